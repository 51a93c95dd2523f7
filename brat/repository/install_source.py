"""Tells which commit of brat's own repository this installation was made from.

pip notes it when it installs from a repository: https://peps.python.org/pep-0610/.
"""

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final, NamedTuple

PACKAGE: Final = "brat-bot"
_SOURCE: Final = re.compile(r"https://[\w.:/-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


class Pin(NamedTuple):
    """A commit, and the repository that has it."""

    source: str
    commit: str


def installed_from() -> Pin | None:
    """Return the installed commit; None: it came from a registry or a folder."""
    try:
        noted = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return pin_in(noted or "")


def pin_in(noted: str) -> Pin | None:
    """Return the commit in the text of pip's note; None: it names none."""
    try:
        told = json.loads(noted)
        source, commit = str(told["url"]), str(told["vcs_info"]["commit_id"])
    except (ValueError, KeyError, TypeError):
        return None
    if _SOURCE.fullmatch(source) and _COMMIT.fullmatch(commit):
        return Pin(source, commit)
    return None
