"""Every brat event: what happened, in the past tense, with all the fold needs.

A file holds what belongs to one subject: its events, each with its sentence and its
fold, and the commands that need no room above. An event is a frozen struct whose JSON
form carries `v` and `type` (noun dot participle). Every public subclass that stands in
another file than this one is a kind: `convoy.log.record` loads all of them for the
codec, the fold and docs/log-format.md. A session loads only what it needs.

A command carries all outside facts; its `decide` is the rule: may this happen? Most
events are their own command; an imperative in `convoy.rules` asks for what needs more
events and the state. The rules keep brat's promises: nothing starts before what it
needs, an attempt ends once, only the current candidate lands, and an announced action
is noted done once.
"""

import re
from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from convoy.model import ids
from convoy.model.state import Convoy, Moment, State, Task, change_task
from convoy.model.work import Attempt
from convoy.text import counted, full_stop

_Record = TypeVar("_Record", bound=Struct)
SHORT: Final = 10
"""How many characters of a commit's id are shown to people."""


class Command(Protocol):
    """What the shell asks the rules: a wish, or an event that has a rule of its own."""

    def decide(self, state: State) -> "Events":
        """Return the events that it leads to in `state`.

        Raises:
            Refusal: it may not happen.
        """


class Fact(Struct, frozen=True, kw_only=True, tag_field="type"):
    """An entry of the log: the version of its JSON form, and a sentence."""

    SAYS = ""
    """The form of its sentence: a name in braces is a field's, which is written in the
    way that stands behind the name, one of `_WAYS`."""
    v: int = 1

    def sentence(self) -> str:
        """Return one sentence for people who read the log itself."""

        def said(found: re.Match[str]) -> str:
            return _WAYS[found[2]](attrgetter(found[1])(self))

        return ended_once(_FIELD.sub(said, self.SAYS))


class Claim(Fact, frozen=True, kw_only=True):
    """A session's statement about itself; the fold never believes it."""

    convoy: str
    task: int
    attempt: int

    @property
    def session(self) -> str:
        """The session that says it, in the words that begin its sentence."""
        return f"Session {self.convoy}/{self.task}/{self.attempt}"


class Event(Fact, frozen=True, kw_only=True):
    """An entry that a bot wrote; it changes the state.

    One whose rule needs no room above is its own command: what is wished is submitted,
    and its rule gives it as it is, or completed, with what follows from it.
    """

    @abstractmethod
    def change(self, state: State) -> State:
        """Return the state after it; one about an unknown convoy changes nothing.

        Every event is believed: its rule has already decided that it may happen. The
        time and commit come from `state.moment`, which the fold sets before each event.
        """


class AboutConvoy:
    """What an event or a command finds by the name of its convoy."""

    __slots__ = ()
    convoy: str

    def known(self, state: State) -> Convoy:
        """Return its convoy, which may have ended."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None:
            raise Refusal(f"there is no convoy {self.convoy}")
        return convoy

    def live(self, state: State) -> Convoy:
        """Return its convoy, which has not ended."""
        convoy = self.known(state)
        if convoy.ended:
            raise Refusal(f"{self.convoy} is {convoy.state}")
        return convoy

    def in_state(self, state: State, wanted: str) -> Convoy:
        convoy = self.live(state)
        if convoy.state != wanted:
            raise Refusal(f"{self.convoy} is {convoy.state}, not {wanted}")
        return convoy


class AboutTask(AboutConvoy):
    """What one finds by the number of its task, too."""

    __slots__ = ()
    task: int

    def planned(self, state: State) -> tuple[Convoy, Task]:
        """Return a convoy that has not ended, and a task of its plan."""
        convoy = self.live(state)
        task = convoy.task(self.task)
        if task is None:
            raise Refusal(f"{self.convoy} has no task {self.task}")
        return convoy, task

    def task_in(self, state: State, wanted: str) -> tuple[Convoy, Task]:
        convoy, task = self.planned(state)
        if task.state != wanted:
            what = f"task {self.task} of {self.convoy}"
            raise Refusal(f"{what} is {task.state}, not {wanted}")
        return convoy, task

    def unsettled(self, state: State) -> tuple[Convoy, Task]:
        convoy, task = self.planned(state)
        if task.settled:
            raise Refusal(f"task {self.task} is {task.state}")
        return convoy, task

    def in_session(self, state: State, attempt: int) -> tuple[Convoy, Task, Attempt]:
        """Return the task whose session is this attempt, even dropped or blocked."""
        name, number = self.convoy, self.task
        convoy = state.convoys.get(name)
        task = convoy.in_session(number) if convoy else None
        if convoy is None or task is None:
            raise Refusal(f"{name} has no task {number}")
        if task.attempt is None:
            raise Refusal(f"task {number} of {name} is {task.state}, not running")
        if task.attempt.number != attempt:
            raise Refusal(f"attempt {attempt} of task {number} is not the current one")
        return convoy, task, task.attempt


class ConvoyEvent(Event, AboutConvoy, frozen=True, kw_only=True):
    """An event that changes one convoy."""

    convoy: str

    def change(self, state: State) -> State:
        now = state.moment
        return state.change_convoy(self.convoy, lambda c: self.convoy_after(c, now))

    @abstractmethod
    def convoy_after(self, convoy: Convoy, now: Moment, /) -> Convoy: ...


class TaskEvent(ConvoyEvent, AboutTask, frozen=True, kw_only=True):
    """An event that changes one task, or with 0 the plan that a session works on."""

    task: int

    def convoy_after(self, convoy: Convoy, now: Moment, /) -> Convoy:
        return change_task(convoy, self.task, lambda task: self.task_after(task, now))

    @abstractmethod
    def task_after(self, task: Task, now: Moment, /) -> Task: ...


def copied(form: type[_Record], /, *sources: Struct, **more: Any) -> _Record:  # noqa: ANN401
    """Return a record with the fields of that name that others have, and more."""
    found = {
        name: getattr(each, name)
        for each in sources
        for name in _shared(form, type(each))
    }
    return form(**found | more)


@cache
def _shared(form: type[Struct], source: type[Struct]) -> frozenset[str]:
    return frozenset(form.__struct_fields__).intersection(source.__struct_fields__)


def clause(text: str) -> str:
    """Return the first line of `text`, short, without a full stop."""
    return text.strip().split("\n", 1)[0][:200].rstrip(". ")


def ended_once(sentence: str) -> str:
    """Return the sentence without the full stop that follows a question in it."""
    return full_stop(sentence[:-1]) if sentence.endswith(".") else sentence


def subject(task: int) -> str:
    """Return the words for a task, or for 0 the convoy itself."""
    return f"task {task}" if task else "the convoy"


GITHUBS_LIST: Final = "A change to the sub-issues"
"""Who changed a plan that follows the list without being asked."""
_FIELD: Final = re.compile(r"\{([\w.]+)(?::(\w+))?\}")
_WAYS: Final[dict[str | None, Callable[[Any], str]]] = {
    None: str,
    "short": lambda commit: "nothing" if commit is None else commit[:SHORT],
    "clause": clause,
    "told": lambda why: f": {clause(why)}" if why else "",
    "who": lambda by: by.replace("the ", "The ") or GITHUBS_LIST,
    "bot": lambda by: by or "The bot",
    "ended": lambda by: "ended" if by else "failed",
    "did": {"approve": "approved", "changes": "requested changes to"}.__getitem__,
    "times": lambda number: "once" if number == 1 else f"{number} times",
    "list": ", ".join,
    "numbers": lambda tasks: f" (tasks: {', '.join(map(str, tasks))})" if tasks else "",
    "files": lambda paths: counted(len(paths), "file"),
    "tasks": lambda specs: counted(len(specs), "task"),
    "part": subject,
    "Part": lambda task: subject(task).capitalize(),
    "base": ids.base_branch,
}


Events = tuple[Event, ...]


class Refusal(Exception):
    """Why it is forbidden, in one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ConvoyCommand(Struct, AboutConvoy, frozen=True, kw_only=True):
    convoy: str


class TaskCommand(ConvoyCommand, AboutTask, frozen=True, kw_only=True):
    task: int


class AttemptCommand(TaskCommand, frozen=True, kw_only=True):
    attempt: int


def decided(command: Command, state: State) -> Events | Refusal:
    """Return what a command's rule decides.

    A refusal is a value: a repeated or late command is no error.
    """
    try:
        return command.decide(state)
    except Refusal as refusal:
        return refusal
