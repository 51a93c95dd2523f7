"""Writes what docs/engines.md says of each engine: from the rows, so that it is so.

`python -m runner.engines.page docs` brings the page up to date; a test fails while it
is not.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from convoy.events import EngineSpec
from convoy.text.generated import remade
from runner.engines import ENGINES
from runner.engines.row import Call, Row, can_be_pointed

BEGIN: Final = "<!-- engines: made by python -m runner.engines.page docs -->\n"
END: Final = "<!-- end of engines -->\n"
_HEAD: Final = (
    "type",
    "program",
    "key",
    "speaks",
    "hears",
    "resume",
    "usage",
    "cost",
    "tools",
    "key proxy",
)


def tables() -> str:
    """Return what each engine can do, and what one has to know, as Markdown."""
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD))]
    lines += (_line(_cells(row)) for row in ENGINES.values())
    notes = (f"- `{row.name}`: {row.can.limits}\n" for row in ENGINES.values())
    return "".join([*lines, "\n", *notes])


def with_tables(page: str) -> str:
    """Return the page with what stands between its two marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    return remade(page, BEGIN, END, tables())


def _cells(row: Row) -> Iterator[str]:
    call = Call(EngineSpec(type=row.name, model="m", args=("",)), Path(), Path())
    keys = dict.fromkeys(row.keys)
    can = row.can
    yield f"`{row.name}`"
    yield _code(row.argv(call)[0]) or "its `args`"
    yield ", ".join(map(_code, keys)) or "none"
    yield ", ".join(vendor.dialect for vendor in row.vendors) or "no"
    yield "yes" if row.says else "no"
    yield _code(can.resume) or "no"
    yield can.usage or "no"
    yield can.cost or "no"
    yield ", ".join(_code(each) for each in can.tools.split(", ")) or "no"
    yield _proxied(row)


def _proxied(row: Row) -> str:
    """Say how the engine is pointed at the proxy, and which vendors it cannot be."""
    found = {_code(v.url or v.writes) for v in row.vendors if can_be_pointed(v)}
    without = [f"not {v.dialect}" for v in row.vendors if not can_be_pointed(v)]
    return ", ".join((*sorted(found), *without)) or "no"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def main(argv: Sequence[str]) -> int:
    """Write the page in the folder that `argv` names; safe to call twice."""
    page = Path(argv[0]) / "engines.md"
    page.write_text(with_tables(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
