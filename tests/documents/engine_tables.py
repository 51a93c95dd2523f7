"""What documents say of each engine, made from its row and docs/engines.toml."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import EngineSpec
from runner.engines import ENGINES
from runner.engines.row import Row, can_be_pointed, program_of
from tests.documents.tables import table

_ROOT: Final = Path(__file__).parents[2]
_HEAD: Final = (
    *("type", "program", "key", "speaks", "hears", "resume", "usage", "cost"),
    *("tools", "key proxy"),
)
VARIABLES: Final = {
    ("BRAT_PROMPT",): "the file with the prompt",
    ("BRAT_CONVOY", "BRAT_TASK", "BRAT_ATTEMPT"): (
        "the convoy's name, and the numbers of the task and the attempt, from 1"
    ),
    ("BRAT_TITLE", "BRAT_MODEL"): (
        "the task's title; the model that the configuration names, if any"
    ),
    ("PATH", "HOME", "TMPDIR", "LANG", "TERM", "CI"): (
        "basic settings; `.local/bin` of its own `HOME` is first on `PATH`"
    ),
    ("GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT", "GIT_CEILING_DIRECTORIES"): (
        "git without a login"
    ),
    ("PYTHONPATH",): "the checkout, so that an editable install uses it, not yours",
    (
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
        *("no_proxy", "MAVEN_OPTS", "GRADLE_OPTS", "NODE_USE_ENV_PROXY"),
    ): "the way to what it [can reach](#what-it-can-reach), if its network is closed",
}
"""What each program of an agent gets, besides its engine's own and those of tools."""


def variables() -> str:
    rows = ((", ".join(map(_code, n)), text) for n, text in VARIABLES.items())
    return table(("variable", "what it holds"), rows) + (
        "\nThe engine also gets the variables of tools (`JAVA_HOME` "
        "and others), and those for its key, server and settings. `.brat/setup.sh` and "
        "the acceptance command get all but `BRAT_*` and the engine's own; the script "
        "also gets [`BRAT_CACHE`](#what-the-project-needs). Local CI also gets "
        "`GITHUB_SHA` and `GITHUB_REF_NAME`, but not `TERM` or git's variables.\n"
    )


def names() -> str:
    first, *others = (_code(name) for name, row in ENGINES.items() if row.install)
    return f"{first} (the default), {', '.join(others)}, or `shell`: any command.\n"


def tables() -> str:
    told = tomllib.loads((_ROOT / "docs/engines.toml").read_text("utf-8"))
    rows = (_cells(row, told[name]) for name, row in ENGINES.items())
    notes = (f"- `{name}`: {told[name]['limits']}\n" for name in ENGINES)
    return "".join((table(_HEAD, rows), "\n", *notes))


def _cells(row: Row, told: Mapping[str, str]) -> Iterator[str]:
    spec = EngineSpec(type=row.name, model="m", args=("",))
    yield f"`{row.name}`"
    yield (_code(program_of(row, spec)) or "its `args`")
    yield ", ".join(map(_code, ENGINE_TYPES[row.name].all_keys)) or "none"
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
