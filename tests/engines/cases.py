"""What the vendor does in each column of the matrix, and how the session must end."""

from dataclasses import dataclass
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from convoy.model.records import EngineSpec
from convoy.model.session_result import Outcome
from runner.engines import ENGINES as ROWS
from runner.engines.row import program_of
from tests.world.patience import patient
from tests.world.vendor.script import (
    Case,
    Cut,
    Fault,
    Flood,
    Hang,
    Loop,
    Run,
    Script,
    Status,
    Write,
)

PROMPT: Final = "Greet the world"
KEY: Final = "made-up-key-"
"""How each key of the job begins that a session is offered."""
GREETING: Final = "hello from a model\n"
CAP_S: Final = patient(30)
"""No run lasts longer that ends by itself."""
RETRIES_S: Final = 30
"""How long one is let try again that says nothing of why."""


@dataclass(frozen=True)
class Engine:
    type: str
    program: str
    model: str
    hides_retries: bool = False
    """It tries for longer than our deadline and says nothing of why."""
    has_tools: bool = True


@dataclass(frozen=True)
class Column:
    name: str
    fault: Fault | None
    outcomes: frozenset[Outcome]
    """Each of these is right."""
    first: int | None = None
    limit_s: int | None = None
    """How long it is let go on if it does not end by itself."""

    def script(self, command: str) -> Script:
        steps = (
            Write(path="hello.txt", content=GREETING),
            Run(command=f"{command}; echo ran > ran.txt"),
        )
        case = Case(
            when=(PROMPT,),
            steps=steps,
            closing="I wrote the greeting.\n\nBRAT: done. Wrote hello.txt.",
            fault=self.fault,
            first=self.first,
        )
        return Script(cases=(case,))


ENGINES: Final = {
    row.name: Engine(
        row.name,
        program_of(row, EngineSpec(type=row.name, model=row.sample_model)),
        row.sample_model,
        hides_retries=row.name == "continue",
        has_tools=row.name != "aider",
    )
    for row in ROWS.values()
    if row.sample_model
}

_WELL: Final = frozenset[Outcome]({"uncommitted"})
_LIMITED: Final = frozenset[Outcome]({"rate_limited"})
_DOWN: Final = frozenset[Outcome]({"vendor_down"})
_ENDED: Final = frozenset[Outcome]({"deadline", "hung"})
_GIVEN_UP: Final = _ENDED | frozenset[Outcome]({"nothing"})
"""By us, or by an engine that saw it itself."""

COLUMNS: Final = {
    column.name: column
    for column in (
        Column("ok", None, _WELL),
        Column("401", Status(code=401), frozenset({"credentials"})),
        Column("hang", Hang(), _ENDED, limit_s=10),
        Column("429", Status(code=429), _LIMITED),
        Column("429 for 2 s", Status(code=429, retry_after=2), _WELL, first=1),
        Column("500", Status(code=500), _DOWN),
        Column("cut", Cut(), _DOWN),
        Column("flood", Flood(), _GIVEN_UP, limit_s=10),
        Column("loop", Loop(), _GIVEN_UP, limit_s=10),
    )
}
QUICK: Final = ("ok", "401", "hang")
"""The columns that each run of all tests holds; `make engines` holds all."""


def on(engine: Engine, *values: object, named: str) -> ParameterSet:
    """Return a test's row that needs the engine's program; its `values` are others."""
    needs = pytest.mark.needs(engine.program)
    return pytest.param(*values or (engine,), id=named, marks=needs)
