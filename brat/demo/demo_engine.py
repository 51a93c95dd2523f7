"""The agent that plays the demo: a script, or a real CLI with a model."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from brat.local.model_keys import model_keys
from convoy.config import Config
from convoy.model.records import EngineSpec
from convoy.text.nearest import did_you_mean
from grite.errors import BratError
from runner.engines import ENGINES
from runner.engines.model_key import key_for, missing_key
from runner.engines.row import Call, Row, program_of

CLIS: Final = {name: row for name, row in ENGINES.items() if row.install}
"""The engines that the demo can use besides its own shell script."""


@dataclass(frozen=True)
class Engine:
    """A real CLI, and its model."""

    type: str
    model: str
    is_scripted: bool
    """Whether the model follows our script; else it is a vendor's and needs a key."""

    def __str__(self) -> str:
        """Name the engine and its model in one line."""
        if self.is_scripted:
            return (
                f"engine: {self.type}, the real CLI; its model follows a script on "
                "this machine, so no key is needed; --model NAME takes a real one"
            )
        return f"engine: {self.type} with the model {self.model}, paid by your key"


@dataclass(frozen=True)
class Cast:
    """The real CLIs in the demo; None: a script works, and the list is the plan."""

    agent: Engine | None = None
    planner: Engine | None = None

    @property
    def model(self) -> Engine | None:
        """The engine whose model has to be reached."""
        return self.agent or self.planner


def chosen(name: str, model: str | None) -> Engine | None:
    """Return the engine that a person asks for; None: the demo's own shell script.

    Raises:
        BratError: there is no such engine, it is not installed, or there is no key for
            the real model.
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
    engine = Engine(name, model or row.sample_model, is_scripted=model is None)
    _require(engine, row)
    return engine


def planner(name: str | None, model: str | None) -> Engine | None:
    """Return the engine that is to plan; None: no planner was asked for.

    Raises:
        BratError: there is no such engine, it is not installed, or a real model is
            asked for, too: the demo's planner follows a script.
    """
    if name is None:
        return None
    if model is not None:
        raise BratError("--plan-with follows a script: leave --model away")
    if name == "shell":
        raise BratError("--plan-with needs a CLI that talks to a model, such as codex")
    return chosen(name, None)


def _require(engine: Engine, row: Row) -> None:
    spec = EngineSpec(type=engine.type, model=engine.model)
    program = program_of(row, spec)
    if shutil.which(program) is None:
        raise BratError(
            f"{program} is not installed: run `{row.install}`, then try again"
        )
    if engine.is_scripted:
        return
    call = Call(spec, Path(), Path())
    call = replace(call, key=key_for(row, call, model_keys(Config())))
    if missing := missing_key(row, call):
        raise BratError(f"{missing} Without --model a scripted model plays")
