"""The agent that plays the demo: a script, or a real CLI with its vendor's model."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from brat.local.start_checks import model_keys
from convoy.config import Config
from convoy.model.records import EngineSpec
from convoy.text import did_you_mean
from grite.errors import BratError
from runner.engines import ENGINES
from runner.engines.row import Call, Row, key_for, missing_key, program_of

CLIS: Final = {name: row for name, row in ENGINES.items() if row.install}
"""The engines that the demo can use besides its own shell script."""


@dataclass(frozen=True)
class Engine:
    """A real CLI, and its vendor's model."""

    type: str
    model: str

    def __str__(self) -> str:
        """Name the engine and its model in one line."""
        return f"engine: {self.type} with the model {self.model}, paid by your key"


def chosen(name: str, model: str | None) -> Engine | None:
    """Return the engine that a person asks for; None: the demo's own shell script.

    Raises:
        BratError: there is no such engine, it is not installed, or its model or the key
            for it is missing.
    """
    if name == "shell":
        if model is not None:
            raise BratError("--model needs --engine, such as --engine claude-code")
        return None
    row = CLIS.get(name)
    if row is None:
        known = ", ".join(["shell", *CLIS])
        hint = did_you_mean(name, CLIS)
        raise BratError(f"the demo has no engine {name!r} (it has {known}){hint}")
    if model is None:
        raise BratError(f"--engine needs --model, such as --model {row.sample_model}")
    engine = Engine(name, model)
    _require(engine, row)
    return engine


def _require(engine: Engine, row: Row) -> None:
    spec = EngineSpec(type=engine.type, model=engine.model)
    program = program_of(row, spec)
    if shutil.which(program) is None:
        raise BratError(
            f"{program} is not installed: run `{row.install}`, then try again"
        )
    call = Call(spec, Path(), Path())
    call = replace(call, key=key_for(row, call, model_keys(Config())))
    if missing := missing_key(row, call):
        raise BratError(f"{missing} Without --engine a script plays the agent.")
