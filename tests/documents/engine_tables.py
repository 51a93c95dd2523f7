"""What documents say of each engine, made from its row and docs/engines.toml."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from convoy.model.records import EngineSpec
from runner.engines import ENGINES
from runner.engines.row import Row, can_be_pointed, program_of

_ROOT: Final = Path(__file__).parents[2]
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


def names() -> str:
    first, *others = (_code(name) for name, row in ENGINES.items() if row.install)
    return f"{first} (the default), {', '.join(others)}, or `shell`: any command.\n"


def tables() -> str:
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD))]
    told = tomllib.loads((_ROOT / "docs/engines.toml").read_text("utf-8"))
    lines += (_line(_cells(row, told[name])) for name, row in ENGINES.items())
    notes = (f"- `{name}`: {told[name]['limits']}\n" for name in ENGINES)
    return "".join([*lines, "\n", *notes])


def _cells(row: Row, told: Mapping[str, str]) -> Iterator[str]:
    keys = dict.fromkeys(row.keys)
    spec = EngineSpec(type=row.name, model="m", args=("",))
    yield f"`{row.name}`"
    yield (_code(program_of(row, spec)) or "its `args`")
    yield ", ".join(map(_code, keys)) or "none"
    yield ", ".join(vendor.dialect for vendor in row.vendors) or "no"
    yield "yes" if row.says else "no"
    yield _code(told.get("resume", "")) or "no"
    yield told.get("usage", "no")
    yield told.get("cost", "no")
    yield ", ".join(_code(each) for each in row.tools.split(", ")) or "no"
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
