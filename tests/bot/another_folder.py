"""A bot's settings for another machine: another folder, the same log key."""

from pathlib import Path

from bot.settings import bot_folder
from bot.settings.bot_settings import Settings


def elsewhere(settings: Settings, folder: Path) -> Settings:
    key = settings.log_key_file or settings.folder / bot_folder.LOG_KEY_FILE
    return settings.model_copy(update={"folder": folder, "log_key_file": key})
