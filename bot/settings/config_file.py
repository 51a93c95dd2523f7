"""Reads `.brat/config.toml` where it lies in a folder."""

from pathlib import Path

from convoy.config import Config, ConfigError, load


def config_in(file: Path, *, source: str = "") -> Config:
    """Return the configuration in a file; all defaults where there is none.

    Args:
        file: the file.
        source: what the messages call it; empty: its path.

    Raises:
        ConfigError: it has faults, a line for each, or it cannot be read.
    """
    source = source or str(file)
    try:
        text = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        text = b""
    except IsADirectoryError as error:
        said = f"{source}: this is a folder; it has to be a file, so move the folder"
        raise ConfigError(said) from error
    except OSError as error:
        said = f"{source}: this cannot be read: {error.strerror}; let its owner read it"
        raise ConfigError(said) from error
    return load(text, source=source)
