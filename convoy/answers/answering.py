"""How a kind of task that ends in an answer asks for it, and what it makes of it."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from convoy.events.command import Command
from convoy.events.forge_actions import Answer
from convoy.kinds.task_kind import TaskKind
from convoy.model.attempt import Attempt
from convoy.model.records import Overlap, Scope, TaskSpec, Usage
from convoy.model.state import Convoy, State, Task
from convoy.planner.survey import Survey


class Repository(Protocol):
    """What a question or an answer may be about: the repository, by its commits."""

    def files(self, commit: str) -> tuple[str, ...]:
        """Return every path of a commit."""
        ...

    def text(self, commit: str) -> Callable[[str], str]:
        """Return what gives a file's text at a commit; empty: it is none."""
        ...

    def diff(self, base: str, commit: str, room: int) -> str:
        """Return a patch, cut a little behind so many characters."""
        ...

    def surveyed(self, commit: str) -> Survey:
        """Return what is known of the repository at a commit."""
        ...

    def scopes(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Scope, ...]:
        """Return how much of a commit each task is about."""
        ...

    def foreseen(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Overlap, ...]:
        """Return which tasks may collide."""
        ...


class Question(Struct, frozen=True, kw_only=True):
    """A session that is about to start."""

    state: State
    convoy: Convoy
    task: Task
    session: str
    """Its secret name, of which its fence is made."""
    repository: Repository


class Reply(Struct, frozen=True, kw_only=True):
    """What a session answered."""

    convoy: Convoy
    task: Task
    attempt: Attempt
    text: str
    """A stranger's."""
    usage: Usage
    repository: Repository


class Taken(Struct, frozen=True, kw_only=True):
    """What an answer comes to."""

    command: Command
    said: Answer | None = None
    """What people are told of it, once the command is carried out."""
    kept: Task | None = None
    """The task whose work is kept then: its branch may go."""


class Answering(Struct, frozen=True, kw_only=True):
    """How one kind's sessions are asked, and how their answers are read."""

    kind: TaskKind
    none: str
    """Why an attempt failed that gave no answer and no reason."""
    told: Callable[[Question], str]
    """Says what a session is told beside its task, in Markdown."""
    read: Callable[[Reply], Taken]
    """Raises Unfit where the answer cannot be used."""
