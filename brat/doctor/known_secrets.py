"""The secrets that this machine knows by their value, wherever they are kept."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

_NAMED: Final = re.compile(
    r"token|secret|key|pass|pwd|credential|auth(?!or)|(?:^|_)pat$", re.IGNORECASE
)
_KEYS: Final = (".key", ".pem")
_FILES: Final = frozenset({"log_key", "registration.json", "bot.json", "settings.json"})
_MOST: Final = 1_000_000
"""So many characters of a file are read: no key is longer."""


def known_secrets(folder: Path | None) -> Iterator[str]:
    """Yield the values of the environment and of brat's folder that are secret."""
    held = os.environ.items()  # noqa: TID251  to hide its secrets, whatever they are
    yield from (value for name, value in held if _NAMED.search(name))
    for place, _, names in os.walk(folder) if folder is not None else ():
        for name in names:
            if name in _FILES or name.endswith(_KEYS):
                yield from _in_file(Path(place) / name)


def _in_file(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST)
    except OSError:
        return  # who may not read it has not written it into what is shown
    if file.suffix != ".json":
        yield text.strip()
        yield from text.split()
        return
    try:
        yield from _told(msgspec.json.decode(text))
    except (msgspec.MsgspecError, RecursionError):
        return


def _told(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _told(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _told(inner, name)
    elif isinstance(value, str) and _NAMED.search(name):
        yield value
