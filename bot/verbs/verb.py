"""A row of the verb table: a verb's arguments, place, required right and rule.

Every decision by a person is a `Request`: from a comment, a ticked box, a button, the
API or the command line. One row holds everything about its verb.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from bot.verbs.arguments import Argument
from convoy.model.state import Convoy, Task
from grite.errors import BratError

if TYPE_CHECKING:  # the command line reads the table: the forge is slow to load
    from bot.forge.github import Right

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
"""How many characters of a verb's form are shown."""
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
    """A box to tick in the convoy's comment."""

    says: str
    """The box's label; may hold the task: `Try task {task} again`."""
    offered: Callable[[Convoy], Iterable[int]]
    """Returns the tasks that have this box now; 0 stands for the convoy."""

    @property
    def of_task(self) -> bool:
        """Whether each task has its own box."""
        return "{task}" in self.says


class CheckButton(Struct, frozen=True, kw_only=True):
    """A button on the check of a task's work, where the bot is an App.

    A forge shows at most three, with a label of 20 characters and a text of 40.
    https://docs.github.com/rest/checks/runs#create-a-check-run
    """

    label: str
    says: str
    offered: Callable[[Convoy, Task], bool]
    of_commit: bool = False
    """Whether the request names the check's commit, and not the task."""

    def arguments(self, task: int, commit: str) -> dict[str, Any]:
        """Return the request's arguments when the button is pressed."""
        return {"commit": commit} if self.of_commit else {"task": task}


class Endpoint(Struct, frozen=True, kw_only=True):
    """A verb's form as a button, in the API and on the command line."""

    word: str
    """The verb's name in the API, the last part of the path: `stop`."""
    typed: str = ""
    """The subcommand on the command line, such as `session stop`; empty: none."""
    help: str = ""
    """The help text on the command line."""
    check: Callable[[Convoy, Request], None] = lambda _, __: None
    """Raises `NotPossible` for requests allowed in a comment but not here."""


class TaskEndpoint(Endpoint, frozen=True, kw_only=True):
    """`POST /api/v1/convoys/{convoy}/tasks/{task}/{word}`, and its button."""

    button: Callable[[Task], bool] = lambda _: False
    """Whether the page of a task in this state shows a button."""


class ConvoyEndpoint(Endpoint, frozen=True, kw_only=True):
    """`POST /api/v1/convoys/{convoy}/{word}`, and its button."""

    button: Callable[[Convoy], bool] = lambda _: False
    """Whether the page of a convoy in this state shows a button."""


class Verb(Struct, frozen=True, kw_only=True):
    """One row of the table: everything about a verb."""

    name: str
    place: Place = "both"
    """Where a comment may use the verb."""
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
    """The help for the text on the command line."""
    help: str
    """The verb's help, one sentence."""
    rule: Rule
    asks: bool = False
    """Whether it changes nothing: its answer is what people want."""
    brief: str = ""
    """What the convoy's comment says in place of an answer that it shows anyway."""
    box: Box | None = None
    on_check: CheckButton | None = None
    of_task: TaskEndpoint | None = None
    of_convoy: ConvoyEndpoint | None = None

    @property
    def usage(self) -> str:
        """The verb's form in a comment."""
        text = {"none": (), "may": ("[-- text]",), "must": ("-- text",)}[self.text]
        more = (self.more,) if self.more else ()
        parts = (each.usage for each in (*self.words, *self.options, *more))
        return " ".join(("/brat", self.name, *parts, *text))

    def line(self, request: Request) -> str:
        """Return the command line in a comment that makes the same request.

        Args:
            request: a request of this verb.
        """
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
            words += [f'{key}="{_escaped(word)}"' for key, word in others.items()]
        text = ("--", request.text) if request.text else ()
        return " ".join(("/brat", self.name, *words, *text))


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')
