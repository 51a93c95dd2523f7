"""Refusals as data: which rule said no, whether it passes, and what would help.

`refusals.toml` says so by what forges and hooks write; the first table that fits
counts. What they write is text of strangers: it is cleaned and cut here, and escaped
where it is shown.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, toml
from msgspec.structs import replace

from bot.forge.rest import Refused
from convoy.events import copied
from convoy.events.forge_actions import ItemSetAside
from convoy.text import clean, cut, shortened


class RefusalRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of `refusals.toml`, which says what each field means."""

    rule: str = ""
    says: tuple[str, ...] = ()
    helps: str
    passing: bool = False
    pushes: bool = True
    statuses: frozenset[int] = frozenset()

    def fits(self, said: str) -> bool:
        return any(re.search(each, said, re.IGNORECASE) for each in self.says)


_TABLE: Final = Path(__file__).with_name("refusals.toml").read_bytes()
ROWS: Final = tuple(
    replace(row, rule=rule)
    for rule, row in toml.decode(_TABLE, type=dict[str, RefusalRow]).items()
)
UNKNOWN: Final = RefusalRow(rule="unknown", helps="See the message from the forge.")


SAID_CHARS: Final = 300
ASKED_CHARS: Final = 120
_NOUNS: Final = toml.decode(
    Path(__file__).with_name("request_nouns.toml").read_bytes(), type=dict[str, str]
)
"""What a request asks for, in people's words."""


def refusal_of_rest(error: Refused, item: str = "") -> ItemSetAside:
    """Return what sets an item aside for a refusal."""
    said = " ".join((error.said, *(each for each in error.errors if each)))
    row = _row(ROWS, said, error.status)
    told = said.strip() or f"status {error.status}"
    if row.rule in {"missing-permission", "forbidden"} and error.needs:
        row = _needing(row, error.needs)
    path = error.what.partition("?")[0]
    found = ((re.fullmatch(pattern, path), noun) for pattern, noun in _NOUNS.items())
    asked = next((noun.format(*each.groups()) for each, noun in found if each), "")
    asked = asked or cut(" ".join(clean(path).split()), ASKED_CHARS)
    return _refusal(item, row, asked, told)


def refusal_of_push(said: str, ref: str, item: str = "") -> ItemSetAside:
    """Return the same for a refused ref; empty: the whole push was refused.

    `said` is what the server said of it; see `grite.push_answer`.
    """
    branch = ref.removeprefix("refs/heads/")
    noun = "branch " if branch != ref else ""
    what = f"the push of {noun}{branch}" if ref else "the push"
    found = re.search(r"(?:returned error:|HTTP) (4\d\d)", said)  # a whole request's
    status = int(found[1]) if found else 0
    row = _row([row for row in ROWS if row.pushes], said, status)
    told = said.strip() or "no reason given"
    return _refusal(item, row, what, told)


def _row(rows: Sequence[RefusalRow], said: str, status: int) -> RefusalRow:
    by_text = (row for row in rows if row.fits(said))
    by_status = (row for row in rows if status in row.statuses)
    return next(by_text, None) or next(by_status, UNKNOWN)


def _refusal(item: str, row: RefusalRow, what: str, said: str) -> ItemSetAside:
    told = shortened(" ".join(clean(said).split()), SAID_CHARS)
    why = f"the forge refused {what}: {told}"
    return copied(ItemSetAside, row, item=item, why=why)


_WHERE: Final = "in its workflow, its token, or its App and where that is installed"


def _needing(row: RefusalRow, needs: str) -> RefusalRow:
    """Return the row with the permissions that a forge names in a header.

    One of several sets is enough: `issues=write; pull_requests=write,contents=read`.
    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
    """
    sets = [
        " and ".join(f"{name}: {kind}" for name, kind in pairs)
        for each in needs[:SAID_CHARS].split(";")
        if (pairs := re.findall(r"([a-z_]+)=([a-z]+)", each))
    ]
    if not sets:
        return row
    asked = " or ".join(sets)
    return replace(
        row,
        rule="missing-permission",
        helps=f"Grant the bot {asked}: {_WHERE}.",
    )
