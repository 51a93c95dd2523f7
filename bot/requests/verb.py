"""A row of the verb table, its arguments, and what its rule is given: who asks, where.

Every decision by a person is a `Request`: from a comment, a ticked box, a button, the
API or the command line. One row holds everything about its verb.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
)

from msgspec import Struct, structs

from convoy.events import copied
from convoy.events.forge_actions import Answer
from convoy.model import ids
from convoy.model.records import Reaction
from convoy.model.state import Convoy, State, Task
from convoy.model.work import ReviewThread
from grite.errors import BratError

if TYPE_CHECKING:  # the command line reads the table: the bot's tools are slow to load
    from bot.door.inbox import Remark
    from bot.forge.github import Right
    from bot.roles.bot_context import BotContext, BotDraft
    from convoy.config import Config
    from convoy.events import Command


Reader = Callable[[str], object]
"""Returns a word's value, or raises `ValueError` with the end of "`word` …"."""


class Argument(Struct, frozen=True, kw_only=True):
    name: str
    """The option's key, and the request's argument that it fills."""
    read: Reader
    form: str
    """The argument in a usage line: `<task>`, `ttl=1h`, or a fixed word."""
    needed: bool = True
    write: Callable[[Any], str] = str
    """Returns the word for a value, as `read` takes it."""

    @property
    def usage(self) -> str:
        return self.form if self.needed else f"[{self.form}]"


def _read_task(word: str) -> int:
    if found := re.fullmatch(r"(?:task-)?([1-9][0-9]{0,8})", word, re.IGNORECASE):
        return int(found[1])
    if word.startswith("#"):
        raise ValueError("is an issue number; write a task as `task-3` or `3`")
    raise ValueError("is not a task such as `task-3` or `3`")


def _read_sha(word: str) -> str:
    """Read a commit's id or its beginning; return it in lower case."""
    if re.fullmatch(r"[0-9a-f]{7,64}", word, re.IGNORECASE):
        return word.lower()
    raise ValueError("is not a commit; write at least the first 7 characters of its ID")


TASK: Final = Argument(
    name="task", read=_read_task, form="<task>", write="task-{}".format
)
ANY_TASK: Final = structs.replace(TASK, needed=False)
COMMIT: Final = Argument(name="commit", read=_read_sha, form="<commit>", needed=False)


def fixed_word(word: str, *, needed: bool = True) -> Argument:
    """Return an argument that only this word fills; its value is True."""

    def read(given: str) -> bool:
        if given.lower() != word:
            raise ValueError(f"is not `{word}`")
        return True

    name = word.replace("-", "_")
    return Argument(
        name=name, read=read, form=word, needed=needed, write=lambda _: word
    )


ALL_WORD: Final = fixed_word("all", needed=False)


Place = Literal["issue", "pull", "both"]
"""Where a comment is written; `both`: in either place."""
Text = Literal["none", "may", "must"]
"""Whether a verb takes text after ` -- `."""
Rule = Callable[..., str | Awaitable[str]]
"""Carries a request out and returns the answer, in Markdown.

Takes a `RequestContext`, the arguments by name, and `text` where the verb takes one.
Raises `NotPossible` where the request is refused.
"""


USAGE_CHARS: Final = 80
MOST_BOXES: Final = 20
"""The most boxes that one verb shows; a command names further tasks."""


class NotPossible(BratError):
    """The request cannot be carried out now; the message has no full stop."""


class Request(Struct, frozen=True):
    """A request by somebody; only its form has been checked."""

    verb: str
    arguments: dict[str, Any] = {}
    """The given arguments' values by name, as their readers returned them."""
    text: str = ""
    """The text, cleaned: only its visible part, without secrets."""


class Box(Struct, frozen=True, kw_only=True):
    says: str
    """The box's label; may hold the task: `Try task {task} again`."""
    offered: Callable[[Convoy], Iterable[int]]
    """Returns the tasks that have this box now; 0 stands for the convoy."""


class CheckButton(Struct, frozen=True, kw_only=True):
    """A button on the check of a task's work, where the bot is an App.

    Its request names the check's commit, if the verb takes one, else the task. A forge
    shows at most three, with a label and a verb of 20 characters and a text of 40.
    https://docs.github.com/rest/checks/runs#create-a-check-run
    """

    label: str
    says: str
    offered: Callable[[Convoy, Task], bool]


_Of = TypeVar("_Of", Task, Convoy)


class Endpoint(Struct, Generic[_Of], frozen=True, kw_only=True):
    """A verb's form as a button, in the API and on the command line.

    `POST /api/v1/convoys/{convoy}/tasks/{task}/{word}`, or without `/tasks/{task}`.
    """

    word: str = ""
    """The name in the API, the last part of the path: `stop`; empty: the verb's."""
    typed: str = ""
    """The subcommand, such as `session stop`; empty: `task` or `convoy`, and the word.
    """
    help: str = ""
    button: Callable[[_Of], bool] = lambda _: False
    """Whether its button is shown."""
    check: Callable[[Convoy, Request], None] = lambda _, __: None
    """Raises `NotPossible` for requests allowed in a comment but not here."""


class Verb(Struct, frozen=True):
    rule: Rule
    help: str
    name: str = ""
    """Empty: the rule's own."""
    place: Place = "both"
    right: "Right" = "write"
    """The least right on the repository that the asker must have."""
    words: tuple[Argument, ...] = ()
    """The arguments by position; optional ones come last."""
    options: tuple[Argument, ...] = ()
    """The arguments given as `key=value`; all are optional."""
    more: Argument | None = None
    """Takes every other `key=value`, if an option is given, as one dictionary."""
    text: Text = "none"
    text_help: str = ""
    asks: bool = False
    """Whether it changes nothing: its answer is what people want."""
    brief: str = ""
    """What the convoy's comment says in place of an answer that it shows anyway."""
    box: Box | None = None
    on_check: CheckButton | None = None
    of_task: Endpoint[Task] | None = None
    of_convoy: Endpoint[Convoy] | None = None

    def __post_init__(self) -> None:
        """Name the verb and the forms that have no names of their own."""
        structs.force_setattr(self, "name", self.name or self.rule.__name__)
        for form, thing in (("of_task", "task"), ("of_convoy", "convoy")):
            if (end := getattr(self, form)) is not None:
                word = end.word or self.name
                typed = end.typed or f"{thing} {word}"
                end = structs.replace(end, word=word, typed=typed)
                structs.force_setattr(self, form, end)

    @property
    def usage(self) -> str:
        text = {"none": (), "may": ("[-- text]",), "must": ("-- text",)}[self.text]
        more = (self.more,) if self.more else ()
        parts = (each.usage for each in (*self.words, *self.options, *more))
        return " ".join(("/brat", self.name, *parts, *text))

    def line(self, request: Request) -> str:
        """Return the command line in a comment that makes the same request."""
        given = request.arguments
        words = [
            each.write(given[each.name]) for each in self.words if each.name in given
        ]
        words += [
            f"{each.name}={each.write(given[each.name])}"
            for each in self.options
            if each.name in given
        ]
        if self.more is not None:
            others = given.get(self.more.name, {})
            for key, word in others.items():
                escaped = word.replace("\\", "\\\\").replace('"', '\\"')
                words.append(f'{key}="{escaped}"')
        text = ("--", request.text) if request.text else ()
        return " ".join(("/brat", self.name, *words, *text))


Row = ParamSpec("Row")


def _rows(
    verb: Callable[Concatenate[Rule, Row], Verb],
) -> Callable[Row, Callable[[Rule], Verb]]:
    return lambda *args, **told: lambda rule: verb(rule, *args, **told)


row: Final = _rows(Verb)
"""Makes a verb of the rule below it, whose name is the verb's."""


class Asker(Struct, frozen=True, kw_only=True):
    by: str
    """The person's name on the forge, or the name of whoever acts for them."""
    number: int = 0
    """The issue or pull request; 0: the convoy is given by name."""
    convoy: str = ""
    """The convoy's name; empty: the newest convoy that the number belongs to."""
    sign: str = ""
    """Which review, tick or button it was, see `ids.sign_key`, or whatever else tells
    it from others; empty: the comment does."""
    remark: "Remark | None" = None
    """The comment with the request; None: the request came in another way."""
    review: int = 0
    """The review with the request; 0: it was none."""
    on_pull: bool = False
    """Whether it was a pull request where people write and read."""
    threads: tuple[ReviewThread, ...] = ()
    allowed: bool = False
    """Whether the person's right has been checked already."""
    at_endpoint: bool = False
    """Whether a button, the API or the command line asks."""

    @property
    def comment(self) -> int:
        """The comment with the request; 0: it was a review, tick or button."""
        return self.remark.comment if self.remark is not None else 0

    @property
    def key(self) -> str:
        return self.sign or ids.key("answer", self.comment)

    def answer(
        self, reaction: Reaction, text: str, *, convoy: str = "", enough: bool = False
    ) -> Answer:
        """Return an answer to what was asked; only a comment can have a reaction."""
        reaction = reaction if self.comment else ""
        told = {"reaction": reaction, "text": text, "convoy": convoy, "enough": enough}
        return copied(Answer, self, issue=self.number, comment=self.comment, **told)

    def is_answered(self, state: State) -> bool:
        known = self.sign in state.heard or self.comment in state.answered
        return known or self.key in state.intents


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    draft: "BotDraft"
    asker: Asker

    @property
    def bot(self) -> "BotContext":
        return self.draft.bot

    @property
    def by(self) -> str:
        return self.asker.by

    @property
    def convoy(self) -> Convoy:
        """The convoy that the request is about, as it is in the draft.

        Raises:
            NotPossible: no convoy belongs to the issue.
        """
        state, asker = self.draft.state, self.asker
        if asker.convoy:
            found = state.convoys.get(asker.convoy)
        else:
            found = convoy_of(state, asker.number)
        if found is None:
            raise NotPossible("no convoy belongs to this issue or pull request")
        return found

    def task(self, number: int) -> Task:
        """Return a task of that convoy, or raise `NotPossible`."""
        if found := self.convoy.task(number):
            return found
        raise NotPossible(f"{self.convoy.name} has no task {number}")

    @property
    def own_task(self) -> Task | None:
        """The task whose pull request was commented on; None: another place."""
        number = self.asker.number
        return next((t for t in self.convoy.tasks if number and t.pull == number), None)

    @property
    def config(self) -> "Config":
        """The configuration.

        Raises:
            NotPossible: it has a fault.
        """
        from bot.roles.bot_context import configuration
        from convoy.config import ConfigError

        try:
            return configuration(self.bot)
        except ConfigError as error:
            raise NotPossible(f"the configuration is not valid: {error}") from error

    def decide(self, kind: Callable[..., "Command"], **given: object) -> None:
        """Submit a command of this kind about the convoy, by the asker."""
        self.submit(kind(convoy=self.convoy.name, by=self.by, **given))

    def submit(self, command: "Command") -> None:
        """Put a command to the rules; its events join the draft.

        Raises:
            NotPossible: the rules refuse the command; the draft is unchanged.
        """
        if refused := self.draft.submit(command):
            raise NotPossible(refused.why)


def convoy_of(state: State, number: int) -> Convoy | None:
    """Return the newest convoy that an issue or pull request belongs to."""
    found = [
        name
        for name, known in state.convoys.summaries()
        if number in (known.issue, *known.pulls)
    ]
    return state.convoys[found[-1]] if found else None
