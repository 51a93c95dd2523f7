"""What a lease is taken on, and which of them exclude each other.

A resource is a scheme and a name: `repo:global`, `path:src/main.py`, `issue:7`,
`port:5432`, `service:mail`. No input or output here.
"""

from typing import Final

SCHEMES: Final = ("repo", "path", "issue", "port", "service")
GLOBAL: Final = "repo:global"
"""Excludes every other one but the bot's own."""
BOT: Final = "repo:bot"
"""Who may write refs; excludes only itself."""


def validate(resource: str) -> None:
    """Check that `resource` can be leased.

    Raises `ValueError`: it cannot; one sentence says why.
    """
    scheme, colon, name = resource.partition(":")
    if not colon or scheme not in SCHEMES:
        raise ValueError(
            f"a resource must start with {', '.join(f'{s}:' for s in SCHEMES[:-1])} "
            f"or {SCHEMES[-1]}:, not {resource!r}"
        )
    if not name or not name.isprintable() or name != name.strip():
        raise ValueError(
            f"{scheme}: must be followed by a name of printable characters with no "
            f"space at either end, not {name!r}"
        )
    parts = name.removesuffix("/").split("/")
    if scheme == "path" and (
        name.startswith("/") or not {"", ".", ".."}.isdisjoint(parts)
    ):
        raise ValueError(
            "a path must be relative to the repository's top and have no empty part, "
            f"'.' or '..': {resource!r}"
        )
    is_digits = name.isascii() and name.isdigit()
    if scheme == "port" and not (is_digits and 0 < int(name) < 1 << 16):
        raise ValueError(f"a port must be a number from 1 to 65535, not {name!r}")


def overlaps(a: str, b: str) -> bool:
    """Return whether two different holders may not have `a` and `b` at once.

    Both are valid. A path overlaps what is below it; a slash at its end means nothing.
    """
    if BOT in {a, b}:
        return a == b
    if GLOBAL in {a, b}:
        return True
    if a.startswith("path:") and b.startswith("path:"):
        first, second = _folder(a), _folder(b)
        return first.startswith(second) or second.startswith(first)
    return a == b


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"
