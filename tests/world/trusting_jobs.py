"""Jobs of a forge in this process that take hand-offs from its bot, as locally."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.settings import bot_folder
from brat.forge.service.programs import SECRET
from brat.local.forge_process import ALLOWED_SIGNERS
from brat.repository.registration import BOT_FOLDER


@contextmanager
def trusting_jobs(folder: Path) -> Iterator[None]:
    """Tell the forge's jobs the key of the bot in `folder`, for as long as it lasts."""
    name = SECRET + ALLOWED_SIGNERS
    before = os.environ.get(name)
    os.environ[name] = bot_folder.log_key_in(folder / BOT_FOLDER).line
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
