"""What agents and editors read of a repository by MCP, and decide in it, with no SDK.

A `Backend` is one repository, with one person's rights. The tools that only read answer
with the documents of the HTTP API. There is a tool that decides for each word that the
API and the command line offer: the table of verbs has their arguments, help and rules.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta, Struct

from bot.requests.verb import Verb
from bot.requests.verb_table import BY_CONVOY_WORD, BY_TASK_WORD
from convoy import views
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import valid_leases
from convoy.text import clean, did_you_mean, redacted
from convoy.views.history import LogLine
from convoy.views.interventions import Intervention
from grite.errors import BratError

MISSING: Final = (
    "the MCP server needs the package mcp, which is not installed here; install it "
    "with: pip install 'brat-bot[mcp]'"
)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    state: State
    now: int
    """Unix ms."""
    faults: tuple[str, ...] = ()
    """What could not be read in the log."""
    here: tuple[Intervention, ...] = ()
    """What waits for a person beside what the log says."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a person decides of a convoy or a task; only its form has been checked."""

    word: str
    """The endpoint's word in the table of verbs."""
    convoy: str
    task: int = 0
    """0: it is about the convoy."""
    text: str = ""


class Backend(Protocol):
    """Reads the repository, and hands over what its user decides.

    Each call raises `BratError` where the log cannot be read, or something is refused.
    """

    async def snapshot(self) -> Snapshot:
        """Return the repository as it is now."""

    async def log(self, number: int) -> Sequence[LogLine]:
        """Return at most the last `number` lines of the log, oldest first."""

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of what the task's newest session printed; empty: nothing."""

    async def decide(self, decision: Decision) -> str:
        """Carry out a decision of the user; return what is said of it."""

    async def start(self, text: str, *, plan_only: bool) -> dict[str, Any]:
        """Open an issue and ask for its convoy; return what is known of it."""


_VERSION: Final = {"schema_version": views.SCHEMA_VERSION}
MOST_LINES_TOLD: Final = 500
MOST_TEXT: Final = 30_000
"""How many characters a text may have: a command's argument has 128 KiB at most."""

ConvoyName = Annotated[
    str, Meta(max_length=200, description="The convoy's name, as `status` gives it.")
]
TaskNumber = Annotated[
    int, Meta(ge=1, le=999_999_999, description="The task's number in its convoy.")
]


class NoArguments(Struct, forbid_unknown_fields=True):
    """A tool that takes nothing."""


class OfConvoy(Struct, forbid_unknown_fields=True):
    """A tool about one convoy."""

    convoy: ConvoyName


class OfTask(Struct, forbid_unknown_fields=True):
    """A tool about one task."""

    convoy: ConvoyName
    task: TaskNumber


class ToolRefused(BratError):
    """The call is refused; the message is one sentence for the caller."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str
    title: str
    help: str
    """What it does and gives, for the model that may call it."""
    takes: type[Struct]
    """The arguments' form."""
    answer: Callable[[Backend, Any], Awaitable[dict[str, Any]]]
    """Takes the backend and the arguments; may raise `BratError`."""
    writes: bool = False
    """Whether it changes anything."""
    ends: bool = False
    """Whether it ends or gives up what cannot be taken back."""

    @property
    def schema(self) -> dict[str, Any]:
        _, parts = msgspec.json.schema_components([self.takes])
        whole = dict(parts[self.takes.__name__])
        return {key: whole[key] for key in whole if key not in {"title", "description"}}

    async def call(self, backend: Backend, given: dict[str, Any]) -> dict[str, Any]:
        try:
            arguments = msgspec.convert(given, self.takes, strict=False)
        except msgspec.ValidationError as error:
            raise ToolRefused(f"{self.name}: {error}") from error
        return await self.answer(backend, arguments)


def convoy_in(state: State, name: str) -> Convoy:
    if name not in state.convoys:
        near = did_you_mean(name, state.convoys)
        raise ToolRefused(f"there is no convoy {name[:80]}{near or '; see status'}")
    return state.convoys[name]


def task_in(state: State, convoy: str, number: int) -> tuple[Convoy, Task]:
    found = convoy_in(state, convoy)
    task = found.task(number)
    if task is None:
        raise ToolRefused(f"{found.name} has no task {number}")
    return found, task


class LogLines(Struct, forbid_unknown_fields=True):
    """How much of the log is asked for."""

    lines: Annotated[
        int, Meta(ge=1, le=MOST_LINES_TOLD, description="How many lines at most.")
    ] = 50


async def answer_status(backend: Backend, _: NoArguments) -> dict[str, Any]:
    """Return every convoy that has not ended whole, and the others by name."""
    seen = await backend.snapshot()
    whole = views.state_document(seen.state, seen.now, seen.faults, seen.here)
    live = {convoy.name for convoy in seen.state.live()}
    ended = [
        {"name": name, "state": known.state, "issue": known.issue}
        for name, known in seen.state.convoys.summaries()
        if name not in live
    ]
    shown = [each for each in whole["convoys"] if each["name"] in live]
    return whole | {"convoys": shown, "ended": ended}


async def answer_convoy(backend: Backend, asked: OfConvoy) -> dict[str, Any]:
    seen = await backend.snapshot()
    leases = valid_leases(seen.state, seen.now)
    convoy = convoy_in(seen.state, asked.convoy)
    return _VERSION | views.planned_document(convoy, leases)


def task_told(state: State, convoy: Convoy, task: Task, now: int) -> dict[str, Any]:
    """Return one task whole, and why it is where it is; `now` is unix ms."""
    told = views.task_document(convoy, task, valid_leases(state, now))
    return told | views.why_document(state, convoy, task, now)


async def answer_why(backend: Backend, asked: OfTask) -> dict[str, Any]:
    seen = await backend.snapshot()
    found = task_in(seen.state, asked.convoy, asked.task)
    return task_told(seen.state, *found, seen.now)


async def answer_log(backend: Backend, asked: LogLines) -> dict[str, Any]:
    lines = [msgspec.to_builtins(line) for line in await backend.log(asked.lines)]
    return _VERSION | {"lines": lines}


async def answer_output(backend: Backend, asked: OfTask) -> dict[str, Any]:
    seen = await backend.snapshot()
    convoy, task = task_in(seen.state, asked.convoy, asked.task)
    printed = await backend.output(convoy, task)
    return _VERSION | {"output": redacted(clean(printed))}


READINGS: Final = (
    Tool(
        name="status",
        title="Status",
        help="Where everything stands: each convoy that has not ended with its tasks, "
        "the sessions that run, the merge queue, the locks, and under `interventions` "
        "what waits for a person, with the commands that help. Call it first.",
        takes=NoArguments,
        answer=answer_status,
    ),
    Tool(
        name="convoy_show",
        title="One convoy",
        help="One convoy whole, also one that has ended: its tasks and its plan with "
        "paths, estimates, the order and what of the issue no task does.",
        takes=OfConvoy,
        answer=answer_convoy,
    ),
    Tool(
        name="why",
        title="Why a task is where it is",
        help="One task whole, with `reasons`: why it is where it is and what it waits "
        "for, in order.",
        takes=OfTask,
        answer=answer_why,
    ),
    Tool(
        name="log",
        title="The log",
        help="The last events of all convoys as sentences, oldest first; `at` is in "
        "unix milliseconds.",
        takes=LogLines,
        answer=answer_log,
    ),
    Tool(
        name="task_output",
        title="What a session printed",
        help="The end of what the newest session of a task printed, without secrets "
        "and control codes; empty while there is none.",
        takes=OfTask,
        answer=answer_output,
    ),
)


class StartWanted(Struct, forbid_unknown_fields=True):
    """What a new convoy is to do."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MOST_TEXT,
            description="What is to be done: the text of an issue, whose first line is "
            "its title. A list of `- [ ] item` lines becomes a task each, with "
            "`(paths: src/a.py)` and `(after: 1)`; prose is planned by the engine of "
            "`[mayor]`, where one is configured.",
        ),
    ]
    plan_only: Annotated[
        bool,
        Meta(description="Nothing starts before a person approves the plan."),
    ] = False


async def _start(backend: Backend, wanted: StartWanted) -> dict[str, Any]:
    if not wanted.text.strip():
        raise ToolRefused("start: the text is empty: say what is to be done")
    return await backend.start(wanted.text, plan_only=wanted.plan_only)


START_TOOL: Final = Tool(
    name="start",
    title="Start a convoy",
    help="Opens an issue and lets a convoy be planned for it; the same words again go "
    "on with the issue that is open. With `plan_only` the plan waits for `approve`: "
    "use it unless your user asked for the work to begin at once. Agents work where "
    "brat runs: in `brat up` or `brat daemon`, or on the forge.",
    takes=StartWanted,
    answer=_start,
    writes=True,
)


_ENDS: Final = frozenset({"cancel", "drop"})
"""The words after which there is no way back."""
_EITHER: Final = "Of a task: {task} Without a task: {convoy}"


def verb_tools() -> tuple[Tool, ...]:
    """Return the tools, in the order of the table: those about tasks come first."""
    words = dict.fromkeys((*BY_TASK_WORD, *BY_CONVOY_WORD))
    return tuple(_tool(word) for word in words)


def _tool(word: str) -> Tool:
    verb = BY_TASK_WORD.get(word) or BY_CONVOY_WORD[word]
    return Tool(
        name=word,
        title=word.capitalize(),
        help=_help(word, verb),
        takes=msgspec.defstruct(
            word, [*_fields(word, verb)], forbid_unknown_fields=True
        ),
        answer=_answer(word),
        writes=True,
        ends=word in _ENDS,
    )


def _help(word: str, verb: Verb) -> str:
    task = verb.of_task.help if verb.of_task and word in BY_TASK_WORD else ""
    convoy = verb.of_convoy.help if verb.of_convoy and word in BY_CONVOY_WORD else ""
    return (
        _EITHER.format(task=task, convoy=convoy) if task and convoy else task + convoy
    )


def _fields(word: str, verb: Verb) -> Iterator[Any]:
    """Yield the fields of a word's arguments, those that may be left out last."""
    said = Annotated[str, Meta(max_length=MOST_TEXT, description=verb.text_help)]
    yield ("convoy", ConvoyName)
    if word not in BY_CONVOY_WORD:
        yield ("task", TaskNumber)
    if verb.text == "must":
        yield ("text", said)
    if word in BY_CONVOY_WORD and word in BY_TASK_WORD:
        yield ("task", TaskNumber | None, None)
    if verb.text == "may":
        yield ("text", said, "")


def _answer(word: str) -> Any:  # noqa: ANN401  as `Tool` has it
    async def answer(backend: Backend, asked: Struct) -> dict[str, Any]:
        given = msgspec.structs.asdict(asked)
        decision = Decision(
            word=word,
            convoy=given["convoy"],
            task=given.get("task") or 0,
            text=given.get("text", ""),
        )
        return {"done": True, "said": await backend.decide(decision)}

    return answer
