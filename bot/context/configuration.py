"""The configuration in force: `.brat/config.toml` on the default branch's tip."""

from typing import Final

from bot.context.bot_context import BotContext
from bot.settings.bot_settings import config_in
from convoy.config import Config, load
from convoy.model import ids
from grite import git

PATH: Final = ".brat/config.toml"


def configuration(context: BotContext) -> Config:
    """Return the configuration that applies to a convoy accepted now.

    Raises:
        ConfigError: one line for each fault.
    """
    file = context.settings.config_file
    if file is not None and file.exists():
        return config_in(file)
    tip = context.mirror.refs[ids.HEADS + context.mirror.default_branch]
    found = git.run(
        ["cat-file", "blob", f"{tip}:{PATH}"], cwd=context.mirror.path, check=False
    )
    return load(found.stdout if found.status == 0 else b"", source=PATH)
