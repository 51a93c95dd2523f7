"""Which agent the demo is played with: a script, or a real CLI and which model."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from brat.model_keys import model_keys
from convoy.config import Config
from convoy.events import EngineSpec
from convoy.text.nearest import did_you_mean
from grite.errors import BratError
from runner.engines import ENGINES
from runner.engines.row import Call
from runner.keys import key_for, missing_key


@dataclass(frozen=True)
class Kind:
    """What the demo knows of a CLI."""

    install: str
    """The command that installs it."""
    model: str
    """The name of a model that the CLI knows, for the scripted one."""


KINDS: Final = {
    "claude-code": Kind(
        "npm install -g @anthropic-ai/claude-code", "claude-sonnet-4-5"
    ),
    "aider": Kind("pipx install aider-chat", "openai/gpt-4o"),
    "opencode": Kind("npm install -g opencode-ai", "openai/gpt-4o"),
    "codex": Kind("npm install -g @openai/codex", "gpt-5"),
    "continue": Kind("npm install -g @continuedev/cli", "openai/gpt-4o"),
    "gemini": Kind("npm install -g @google/gemini-cli", "gemini-2.5-flash"),
    "copilot": Kind("npm install -g @github/copilot", "openai/gpt-4o"),
}


@dataclass(frozen=True)
class Engine:
    """A real CLI, and its model."""

    type: str
    model: str
    is_scripted: bool
    """Whether the model follows our script; else it is a vendor's, with a key."""

    def __str__(self) -> str:
        """Say what plays, in one line."""
        if self.is_scripted:
            return (
                f"engine: {self.type}, the real CLI; its model follows a script on "
                "this machine, so no key is needed; --model NAME takes a real one"
            )
        return f"engine: {self.type} with the model {self.model}, paid by your key"


@dataclass(frozen=True)
class Cast:
    """Which real CLIs play; None: a script does the tasks, their list is the plan."""

    agent: Engine | None = None
    planner: Engine | None = None

    @property
    def model(self) -> Engine | None:
        """The one whose model has to be reached."""
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
    kind = KINDS.get(name)
    if kind is None:
        known = ", ".join(["shell", *KINDS])
        hint = did_you_mean(name, KINDS)
        raise BratError(f"the demo has no engine {name!r} (it has {known}){hint}")
    engine = Engine(name, model or kind.model, is_scripted=model is None)
    _require(engine, kind)
    return engine


def planner(name: str | None, model: str | None) -> Engine | None:
    """Return the engine that is to plan; None: nobody asks for one.

    Raises:
        BratError: there is none of that name, it is not installed, or a real model is
            asked for, too: what plans the demo follows a script.
    """
    if name is None:
        return None
    if model is not None:
        raise BratError("--plan-with follows a script: leave --model away")
    if name == "shell":
        raise BratError("--plan-with needs a CLI that talks to a model, such as codex")
    return chosen(name, None)


def _require(engine: Engine, kind: Kind) -> None:
    row = ENGINES[engine.type]
    call = Call(
        EngineSpec(type=engine.type, model=engine.model), Path("prompt"), Path("home")
    )
    program = row.argv(call)[0]
    if shutil.which(program) is None:
        raise BratError(
            f"{program} is not installed: run `{kind.install}`, then try again"
        )
    if engine.is_scripted:
        return
    call = replace(call, key=key_for(row, call, model_keys(Config())))
    if missing := missing_key(row, call):
        raise BratError(f"{missing} Without --model a scripted model plays")
