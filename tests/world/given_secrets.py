"""The secrets that tests hand out; none may come out in a log or on stderr.

`given` is called where a secret is made. What processes keep in their own folders is
found there: tests/world/secret_sweep.py looks through everything after each test.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from grite import git

LEAST: Final = 8
"""A shorter word may stand in a log by chance."""
FORGE_TOKEN: Final = re.compile(rb"brat_\d+_[\w-]{43}(?![\w-])")
"""Any token of the local forge, whichever process made it."""
KEY_FILES: Final = frozenset({"feed.key"})
TOLD_FILES: Final = frozenset({"registration.json", "bot.json", "settings.json"})
_NAMED: Final = re.compile(r"(?:^|_)(?:token|secret|key)$", re.IGNORECASE)

_standing: set[str] = set()
_of_module: set[str] = set()
_written: list[str] = []
_module: list[str] = []


def given(secret: str) -> str:
    """Note a secret that a test hands out, and return it."""
    (_of_module if _module else _standing).add(secret)
    return secret


def given_in(environment: Mapping[str, str]) -> None:
    """Note the secrets in a process's environment."""
    for name, value in environment.items():
        if _NAMED.search(name) and len(value) >= LEAST:
            given(value)


def tells(name: str) -> bool:
    """Whether a file of that name holds secrets."""
    return name.endswith(".pem") or name in KEY_FILES | TOLD_FILES


def given_by(name: str, text: str) -> None:
    """Note the secrets in a file of that name."""
    if name.endswith(".pem"):
        given(text)
    elif name in KEY_FILES:
        given(text.strip())
    elif name in TOLD_FILES:
        try:
            told = msgspec.json.decode(text, type=dict[str, object])
        except msgspec.DecodeError:
            return
        given_in({key: value for key, value in told.items() if isinstance(value, str)})


def written(text: str) -> str:
    """Note what a process wrote to stderr or into a log, and return it."""
    _written.append(text)
    return text


def take_written() -> list[str]:
    """Return what was written since the last call."""
    taken = list(_written)
    _written.clear()
    return taken


def begin(module: str) -> None:
    """Forget what was given in another module's tests."""
    if _module != [module]:
        _module[:] = [module]
        _of_module.clear()


def forms() -> Iterator[bytes]:
    """Give each known secret as it may be written."""
    for secret in _standing | _of_module:
        if "PRIVATE KEY" in secret:
            # In JSON, or cut, a line of it tells as much.
            yield from (line.encode() for line in secret.splitlines()[2:-2:5])
        elif len(secret) >= LEAST:
            yield secret.encode()
            yield git.pair_of(secret).encode()


def leaks(data: bytes) -> set[str]:
    """Return the beginnings of the secrets that stand in `data`."""
    found = {form for form in forms() if form in data}
    found.update(FORGE_TOKEN.findall(data))
    return {f"{form[:6].decode(errors='replace')}…" for form in found}
