"""A task that the job's own inputs describe: one session without a convoy or a log.

The inputs become the same `TaskStarted` that a bot hands over, so the session that
follows is like any other: its box, its gateway, its limits and its gate.
"""

import re
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from convoy.model.records import ENGINE_TYPES, EngineSpec, Gate, Limits
from convoy.text import nearest
from runner.inputs.job_inputs import BadInput, Inputs

CONVOY: Final = "prompt-1"
"""Where there is no convoy, the name that stands for one in the result folder alone."""
PROMPT_BYTES: Final = 100_000
"""Linux takes 128 KiB in one variable of the environment."""
MINUTES_MOST: Final = 360
TOKENS_MOST: Final = 10**9
_TITLE_CHARS: Final = 100
_NO_LOG: Final = "0" * 40
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,199}")
_HOST: Final = re.compile(
    r"\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?"
)


class PromptedTask(Struct, frozen=True):
    """What the inputs ask for."""

    prompt: str
    engine: EngineSpec
    limits: Limits
    base: str
    """The commit to start from; empty: the run's own."""
    egress: tuple[str, ...] | None

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the job's environment with what a convoy would have named."""
        session = ids.session_name(CONVOY, 1, 1)
        return {**env, "BRAT_SESSION": session, "BRAT_LOG": _NO_LOG}

    def started(self, inputs: Inputs) -> TaskStarted:
        """Return the attempt to make.

        Raises:
            BadInput: neither the inputs nor the run name a commit to start from.
        """
        base = self.base or inputs.head
        if not base:
            raise BadInput("There is no commit to start from: give the input base.")
        first = self.prompt.strip().splitlines()[0]
        return TaskStarted(
            convoy=CONVOY,
            task=1,
            attempt=1,
            session=secrets.token_hex(16),
            nonce=secrets.token_hex(8),
            base=base,
            branch=ids.task_branch(CONVOY, 1),
            title=first[:_TITLE_CHARS],
            instructions=self.prompt,
            followups=False,
            engine=self.engine,
            limits=self.limits,
            gate=Gate(),
            egress=self.egress,
        )


def prompted(env: Mapping[str, str]) -> PromptedTask:
    """Return the task that the inputs describe; one of them gives the prompt.

    Raises:
        BadInput: an input is missing, or is not what it may be.
    """
    text, file = env.get("BRAT_TASK_PROMPT", ""), env.get("BRAT_TASK_PROMPT_FILE", "")
    if env.get("BRAT_SESSION", "").strip() or env.get("BRAT_LOG", "").strip():
        raise BadInput("Give a prompt, or session and log of a convoy, not both.")
    if text.strip() and file.strip():
        raise BadInput("Give the input prompt or prompt-file, not both.")
    prompt = text if text.strip() else _content(env, file.strip())
    if len(prompt.encode()) > PROMPT_BYTES:
        raise BadInput(f"The prompt is longer than {PROMPT_BYTES} bytes.")
    return PromptedTask(
        prompt=prompt,
        engine=_engine(env),
        limits=_limits(env),
        base=_base(env),
        egress=_hosts(env),
    )


def _content(env: Mapping[str, str], name: str) -> str:
    """Read a file of the checkout, whose content may be a stranger's.

    A link out of the checkout is refused: the agent must not be shown other files.
    """
    top = Path(env.get("GITHUB_WORKSPACE", "")).resolve()
    file = (top / name).resolve()
    if not file.is_relative_to(top) or not file.is_file():
        raise BadInput(f"The prompt-file {name[:80]!r} is no file of the checkout.")
    try:
        with file.open("rb") as source:
            text = source.read(PROMPT_BYTES + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The prompt-file {name[:80]!r} cannot be read: {error}"
        ) from None
    if not text.strip():
        raise BadInput(f"The prompt-file {name[:80]!r} is empty.")
    return text


def _engine(env: Mapping[str, str]) -> EngineSpec:
    name = env.get("BRAT_TASK_ENGINE", "").strip()
    if name not in ENGINE_TYPES:
        close = nearest(name, ENGINE_TYPES)
        hint = f"; did you mean {close}?" if name and close else "."
        allowed = ", ".join(ENGINE_TYPES)
        raise BadInput(f"The input engine is {name[:80]!r}, not one of {allowed}{hint}")
    minutes = _number(env, "BRAT_TASK_TIMEOUT", 30, MINUTES_MOST)
    return EngineSpec(
        type=name, model=_model(env), args=_args(env, name), timeout_s=60 * minutes
    )


def _model(env: Mapping[str, str]) -> str | None:
    name = env.get("BRAT_TASK_MODEL", "").strip()
    if name and _MODEL.fullmatch(name) is None:
        raise BadInput(f"The input model is {name[:80]!r}, which is no model's name.")
    return name or None


def _args(env: Mapping[str, str], engine: str) -> tuple[str, ...]:
    try:
        found = tuple(shlex.split(env.get("BRAT_TASK_ARGS", "")))
    except ValueError as error:
        raise BadInput(f"The input args cannot be split into words: {error}.") from None
    if engine == "shell" and not found:
        raise BadInput("The engine shell needs the input args: its command line.")
    return found


def _limits(env: Mapping[str, str]) -> Limits:
    usual = Limits()
    return Limits(tokens=_number(env, "BRAT_TASK_BUDGET", usual.tokens, TOKENS_MOST))


def _number(env: Mapping[str, str], name: str, usual: int, most: int) -> int:
    text = env.get(name, "").strip()
    if not text:
        return usual
    if _NUMBER.fullmatch(text) is None or int(text) > most:
        said = name.rpartition("_")[2].lower()
        raise BadInput(f"The input {said} is {text[:40]!r}; give 1 to {most}.")
    return int(text)


def _base(env: Mapping[str, str]) -> str:
    commit = env.get("BRAT_TASK_BASE", "").strip()
    if commit and _COMMIT.fullmatch(commit) is None:
        raise BadInput(
            f"The input base is {commit[:80]!r}; give the 40 hex digits of a commit."
        )
    return commit


def _hosts(env: Mapping[str, str]) -> tuple[str, ...] | None:
    listed = tuple(env.get("BRAT_TASK_EGRESS", "").split())
    for each in listed:
        if _HOST.fullmatch(each) is None:
            raise BadInput(
                f"The input egress names {each[:80]!r}; give hosts such as pypi.org, "
                "*.example.org or localhost:8080, or * for all."
            )
    return listed or None
