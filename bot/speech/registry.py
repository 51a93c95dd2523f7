"""The one table of verbs: parser, rights, help and docs/commands.md come from it."""

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from bot.speech import arguments as args, requests
from bot.speech.arguments import Argument
from bot.speech.requests import Request
from convoy.text.nearest import did_you_mean

Place = Literal["issue", "pull", "both"]
"""Where a comment stands; `both`: it does not matter."""
Right = Literal["read", "write", "maintain"]
"""What the person who asks must be allowed on the repository, at least."""
Text = Literal["none", "may", "must"]
"""Whether text follows after ` -- `."""


class Verb(Struct, frozen=True, kw_only=True):
    """One verb: what it takes, who may say it where, and what it asks for."""

    name: str
    place: Place = "both"
    right: Right = "write"
    words: tuple[Argument, ...] = ()
    """In order; those that may be left out come last."""
    options: tuple[Argument, ...] = ()
    more: Argument | None = None
    """What may be said besides, each by a key of its own; as a dictionary."""
    text: Text = "none"
    help: str
    """One sentence."""
    make: Callable[..., Request]
    """Takes what was said as keywords, the text as `text`."""

    @property
    def usage(self) -> str:
        """How it is written."""
        text = {"none": (), "may": ("[-- text]",), "must": ("-- text",)}[self.text]
        more = (self.more,) if self.more else ()
        parts = (each.usage for each in (*self.words, *self.options, *more))
        return " ".join(("/brat", self.name, *parts, *text))


TASK: Final = Argument(name="task", read=args.task, form="<task>")
ANY_TASK: Final = Argument(name="task", read=args.task, form="<task>", needed=False)
ALL: Final = Argument(name="all", read=args.fixed("all"), form="all", needed=False)
ON: Final = Argument(name="on", read=args.fixed("on"), form="on")
OTHER: Final = Argument(name="other", read=args.task, form="<task>")
COMMIT: Final = Argument(name="commit", read=args.sha, form="<commit>", needed=False)
ENGINE: Final = Argument(name="engine", read=args.engine, form="<engine>")
PRIORITY: Final = Argument(name="priority", read=args.priority, form="<p0|p1|p2>")
RESOURCE: Final = Argument(name="resource", read=args.resource, form="<resource>")
TTL: Final = Argument(name="ttl", read=args.ttl, form="ttl=1h", needed=False)

PATTERN: Final = Argument(
    name="pattern", read=args.pattern, form="pattern=NAME", needed=False
)
INPUTS: Final = Argument(name="inputs", read=str, form="input=value ...", needed=False)


def _pause(*, all: bool = False) -> Request:  # noqa: A002  the word people write
    return requests.PauseAll() if all else requests.Pause()


def _resume(*, all: bool = False) -> Request:  # noqa: A002  the word people write
    return requests.ResumeAll() if all else requests.Resume()


def _verb(word: str) -> str:
    """Read the name of a verb."""
    if word.lower() in BY_NAME:
        return word.lower()
    raise ValueError(f"is no verb{did_you_mean(word, BY_NAME)}")


VERB: Final = Argument(name="verb", read=_verb, form="<verb>", needed=False)


def _lock(*, resource: str, ttl: int = args.LOCK_TTL_S) -> Request:
    return requests.Lock(resource=resource, ttl_s=ttl)


def _depends(*, task: int, on: bool, other: int) -> Request:  # noqa: ARG001  the word `on`
    return requests.Depends(task=task, on=other)


VERBS: Final = (
    Verb(
        name="help",
        right="read",
        words=(VERB,),
        help="Shows what can be said, or how one verb is used.",
        make=requests.Help,
    ),
    Verb(
        name="status",
        right="read",
        help="Shows where the convoy and its tasks stand.",
        make=requests.Status,
    ),
    Verb(
        name="start",
        place="issue",
        options=(PATTERN,),
        more=INPUTS,
        text="may",
        help="Makes a convoy of the issue, as the label does; text is added to it. "
        "With `pattern` it is planned by that template, which the inputs fill.",
        make=requests.Start,
    ),
    Verb(
        name="approve",
        words=(COMMIT,),
        help="Lets a plan that waits be carried out; on a pull request, approves the "
        "work at exactly this commit.",
        make=requests.Approve,
    ),
    Verb(
        name="retry",
        words=(ANY_TASK,),
        help="Tries a blocked task again with all its attempts; without a task, "
        "everything that is blocked here.",
        make=requests.Retry,
    ),
    Verb(
        name="revise",
        place="pull",
        text="must",
        help="Sends the task back, to go on from its work and do as the text says; a "
        "review that asks for changes does the same.",
        make=requests.Revise,
    ),
    Verb(
        name="tell",
        words=(TASK,),
        text="must",
        help="Tells the task's next attempt what the text says.",
        make=requests.Tell,
    ),
    Verb(
        name="cancel",
        words=(ANY_TASK,),
        help="Stops what runs for a task, which then waits for a person; without a "
        "task, ends the whole convoy.",
        make=requests.Cancel,
    ),
    Verb(
        name="pause",
        words=(ALL,),
        help="Starts nothing new in the convoy until it is resumed; with `all`, in the "
        "whole repository.",
        make=_pause,
    ),
    Verb(
        name="resume",
        words=(ALL,),
        help="Lets a paused convoy go on; with `all`, the whole repository.",
        make=_resume,
    ),
    Verb(
        name="drop",
        words=(TASK,),
        help="Gives a task up for good; what waits for it then waits for a person.",
        make=requests.Drop,
    ),
    Verb(
        name="add",
        text="must",
        help="Adds a task that does what the text says, written as in a task list.",
        make=requests.Add,
    ),
    Verb(
        name="depends",
        words=(TASK, ON, OTHER),
        help="Lets a task wait until another is merged.",
        make=_depends,
    ),
    Verb(
        name="engine",
        words=(ENGINE, ANY_TASK),
        help="Gives a task, or all that have not started, to another engine.",
        make=requests.Engine,
    ),
    Verb(
        name="priority",
        place="issue",
        right="maintain",
        words=(PRIORITY,),
        help="Puts the convoy before or behind others; `p0` is first, `p1` usual.",
        make=requests.Priority,
    ),
    Verb(
        name="merge",
        place="pull",
        right="maintain",
        help="Puts the pull request back into the merge queue.",
        make=requests.Merge,
    ),
    Verb(
        name="unqueue",
        place="pull",
        right="maintain",
        help="Takes the pull request out of the merge queue, until `merge`.",
        make=requests.Unqueue,
    ),
    Verb(
        name="rebase",
        place="pull",
        help="Puts the task's work on top of what has landed since.",
        make=requests.Rebase,
    ),
    Verb(
        name="lock",
        words=(RESOURCE,),
        options=(TTL,),
        help="Keeps a resource for you, one hour or as long as `ttl` says, at most "
        "`24h`: no task that needs it starts.",
        make=_lock,
    ),
    Verb(
        name="unlock",
        words=(RESOURCE,),
        help="Gives back a resource that you hold.",
        make=requests.Unlock,
    ),
    Verb(
        name="why",
        right="read",
        words=(TASK,),
        help="Says what a task waits for, and why it is where it is.",
        make=requests.Why,
    ),
    Verb(
        name="logs",
        words=(TASK,),
        help="Links what a task's sessions printed.",
        make=requests.Logs,
    ),
    Verb(
        name="cost",
        help="Says what the convoy has cost, as far as that is known.",
        make=requests.Cost,
    ),
    Verb(
        name="ping",
        right="read",
        help="Answers with the bot's version, when it is there.",
        make=requests.Ping,
    ),
)
"""Every verb there is, in the order of the help."""

BY_NAME: Final = {verb.name: verb for verb in VERBS}
