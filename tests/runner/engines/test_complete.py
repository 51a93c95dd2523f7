"""Every place that an engine has to be in; what fails here says what is left to do."""

from pathlib import Path

import pytest

from convoy.model.engine_types import ENGINE_TYPES, EngineType
from convoy.model.records import EngineSpec
from runner.engines import ENGINES
from runner.engines.row import Row, program_of
from runner.engines.shell import read
from tests.documents.workflow_keys import MADE
from tests.engines import install
from tests.runner.engines.hearing import SAMPLES, row_of
from tests.world.cases import looped

ROOT = Path(__file__).parents[3]
WORKFLOWS = ("brat.yml", "brat-task.yml", "brat-task-live.yml")
HEARD = {row_of(each.stem).name for each in SAMPLES.iterdir() if "-ok" in each.stem}


DOCS = "run `make docs`"
PAGES = {
    "README.md": (DOCS, "`{}`"),
    "docs/engines.md": (DOCS, "| `{}` |"),
    "docs/engines.toml": ("say what one has to know of it", "[{}]\n"),
    "docs/config.schema.json": (DOCS, '"{}"'),
}
OF_PROGRAMS = {
    "Dockerfile": ("give it a target", "FROM runner AS runner-{}\n"),
    "deploy/fleet/README.md": ("measure its image for the table", "| `runner-{}` |"),
    "docs/hosting.md": (
        "measure a session (python -m benchmarks.engine_memory)",
        "| `{}` |",
    ),
}
"""What is left to do where a page does not say this of an engine."""


def _says(page: str, text: str) -> bool:
    return text in (ROOT / page).read_text("utf-8")


def missing_from(name: str, known: EngineType | None, row: Row | None) -> list[str]:
    """Return what is left to do for an engine, a sentence a place."""
    keys = known.all_keys if known else ("A_KEY_OF_NOBODY",)
    also = {*row.also} if row else set()
    spec = EngineSpec(type=name, model="m", args=("-v",))
    places: dict[str, object] = {
        "add a row to ENGINE_TYPES in convoy/model/engine_types.py": known,
        "write its module in runner/engines with a ROW of its name": (
            row and row.name == name
        ),
        "let its type have the `keys` that its row has": (
            row and {each.secret or each.key for each in row.vendors} == {*keys} - also
        ),
        "let `can_be_limited` of its type agree with `tools` of its row": (
            row and known and known.can_be_limited == bool(row.tools)
        ),
    }
    pages = PAGES if name == "shell" else PAGES | OF_PROGRAMS
    for page, (what, text) in pages.items():
        places[f"{what}: {page}"] = _says(page, text.format(name))
    if name == "shell":  # it brings its own program
        return [what for what, is_done in places.items() if not is_done]
    places |= {
        "say in its type what it is `good_at`, for the planner": (
            known and known.good_at
        ),
        "say in its row how to `install` it, and give a `sample_model`": (
            row and row.install and row.sample_model
        ),
        "pin its program in tests/engines and list it in install.py": (
            row and program_of(row, spec) in install.PROGRAM_NAMES
        ),
        "record what it writes when all is well in tests/runner/engines/samples": (
            name in HEARD
        ),
        "hand on its keys in workflows/, and copy these to .github/workflows": all(
            _says(f"workflows/{each}", f"{key}: ${{{{ secrets.{key} }}}}\n")
            for each in WORKFLOWS
            for key in keys
            if key not in MADE
        ),
    }
    return [what for what, is_done in places.items() if not is_done]


@looped(*ENGINE_TYPES)
def test_an_engine_is_in_every_place(name: str) -> None:
    assert missing_from(name, ENGINE_TYPES[name], ENGINES[name]) == []


def test_a_row_takes_no_key_without_a_vendor_to_use_it_with() -> None:
    with pytest.raises(ValueError, match="MY_TOKEN but has no vendors: add"):
        Row(name="mine", argv=lambda _: ("mine",), read=read, also=("MY_TOKEN",))
