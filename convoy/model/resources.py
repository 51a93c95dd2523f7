"""The resources a task may declare: paths in the repository, ports and services."""

import re

LONGEST_PATH = 400
HIGHEST_PORT = 65_535

_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:")
_PORT = re.compile(r"port:([1-9][0-9]{0,4})")
_SERVICE = re.compile(r"service:[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def declared_path(text: str) -> str:
    """Return a path in its normal form: no `./`, no `//`; a folder ends in a slash.

    Raises:
        ValueError: it is not below the repository's top, or names more than one thing.
    """
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if _ABSOLUTE.match(text):
        raise ValueError(f'the path "{text}" must be relative to the repository\'s top')
    if ".." in parts:
        raise ValueError(f'the path "{text}" must not contain ".."')
    if not parts or len(text) > LONGEST_PATH:
        raise ValueError(f'the path "{text[:60]}" must name a file or a folder')
    if set(text) & set("*?\\"):
        raise ValueError(
            f'the path "{text}" must name one file or folder, without *, ? and \\'
        )
    return "/".join(parts) + ("/" if text.endswith(("/", "/.")) else "")


def declared_need(text: str) -> str:
    """Return a resource as it was written.

    Raises:
        ValueError: it is neither `port:NUMBER` nor `service:NAME`.
    """
    port = _PORT.fullmatch(text)
    if (port and int(port[1]) <= HIGHEST_PORT) or _SERVICE.fullmatch(text):
        return text
    raise ValueError(
        f'the resource "{text[:60]}" must be port:NUMBER (1 to 65535) or service:NAME'
    )
