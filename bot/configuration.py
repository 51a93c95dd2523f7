"""The configuration in force: `.brat/config.toml` on the default branch's tip."""

from typing import Final

from bot.desk import Desk
from bot.repository.mirror import HEADS
from convoy.config import Config, load
from grite import git

PATH: Final = ".brat/config.toml"


def configuration(desk: Desk) -> Config:
    """Return the configuration a convoy accepted now is frozen with.

    Raises:
        ConfigError: one line for each fault.
    """
    file = desk.settings.config_file
    if file is not None and file.exists():
        return load(file.read_text(), source=str(file))
    tip = desk.mirror.refs[HEADS + desk.mirror.default_branch]
    found = git.run(
        ["cat-file", "blob", f"{tip}:{PATH}"], cwd=desk.mirror.path, check=False
    )
    text = found.stdout.decode(errors="replace") if found.status == 0 else ""
    return load(text, source=PATH)
