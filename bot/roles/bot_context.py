"""What every role works with: its tools, this process's memory, one item alone, tries.

The memory may be lost. Each item's failures are its own, so that everything else goes
on: a refusal sets the item aside at once, any other failure the third time. What is set
aside goes to the log with the next push.

A list may show an entry late, behind newer ones: each look begins before the end of the
last one. Two looks between which nothing was written are the same request, which the
forge answers with 304.

A forge can show a write late: an immediate look finds nothing, and a repeat would write
twice. So a write whose answer was lost is repeated only after it has had time to show
and was not found.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeVar

import pygit2
from msgspec.structs import replace

from bot import Clock, wall_clock
from bot.door.feed import Feed
from bot.door.inbox import Inbox
from bot.forge.github import GitHub
from bot.forge.pace import Limited, OverShare
from bot.forge.refusals import refusal_of_push, refusal_of_rest
from bot.forge.rest import Refused, Rest
from bot.repository.commits import Commits
from bot.repository.compose import Composer, blob_in
from bot.repository.draft import Draft, NotAdmitted
from bot.repository.mirror import Mirror
from bot.settings.bot_settings import Settings, config_in
from convoy.config import Config, ConfigError, load
from convoy.events import Command
from convoy.events.forge_actions import ItemSetAside, ItemTakenUp
from convoy.model import ids
from convoy.model.state import State
from convoy.model.work import GivenAnswers, of_last_hour
from convoy.rules.observed import Observed
from convoy.views.interventions import LabelledIssue
from grite.errors import BratError, Conflict, Rejected, Unavailable


class NotHolder(BratError):
    """Another bot holds the lease; this one waits."""


class LeaseTooOld(Unavailable):
    """The lease may end before a write arrives; nothing was sent."""


TRIES: Final = 3
OUTAGE_MS: Final = 20_000
"""Failures without an answer count once in so long: most outages are short."""
SAID_CHARS: Final = 300


class NotYet(Unavailable):
    """It is tried again later, as its own rule says: no failure is counted."""


class Unsettled(NotYet):
    """The action may have been done a moment ago; look for its result again first."""


_OF_ALL: Final = (Conflict, NotHolder, LeaseTooOld, Limited, NotYet)
"""Failures that are no single item's."""


@dataclass(frozen=True)
class Failed:
    """How often an item failed, and what was so the last time that counted."""

    tries: int = 0
    answers: int = -1
    """How often the forge had answered by then."""
    at: int = -OUTAGE_MS
    """Unix ms."""


RETRY_S: Final = 1.0
REFUSED_MS: Final = 60_000
"""How long what is refused for good is not tried again."""
CUT: Final = frozenset({"token", "tick"})
"""The names of troubles that cut a whole tick short."""


class Troubles(dict[str, str]):
    """Why something fails or waits now, by its item or name; for one process.

    An item's trouble that the log has to hold is `owed` to it, and told no longer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tell: Callable[[str], None] = lambda _: None
        self.owed: dict[str, ItemSetAside | ItemTakenUp] = {}
        """What the log is to be told, by item."""
        self.resume_at = 0
        """Unix ms; the forge wants no requests before then."""
        self._counts: dict[str, Failed] = {}
        self._lately: set[str] = set()
        """What failed in this tick."""
        self._of_effects: set[str] = set()
        self._until: dict[str, int] = {}
        """When each refused action is tried again, unix ms, by the trouble's name."""

    @property
    def again(self) -> bool:
        """Whether something failed in this tick, or the log is to be told of it."""
        return bool(self._lately or self.owed)

    def begin(self) -> None:
        """Begin a tick: what failed in the last one may not be wanted any more."""
        for item in self._lately:
            self.pop(item, None)
        self._lately.clear()

    def delay(self, item: str, why: str) -> None:
        """Note why an item has to wait, which is no failure of its own."""
        self._lately.add(item)
        self[item] = why

    def failed(self, item: str, error: Exception, answers: int, now: int) -> None:
        """Count a failure; the third, or a refusal, sets the item aside.

        No item is blamed while the forge answers nobody, and what comes of an outage
        counts only now and then.
        """
        self.delay(item, str(error) or repr(error))
        last = self._counts.pop(item, Failed())
        is_new = answers != last.answers and now >= last.at + OUTAGE_MS
        if isinstance(error, Refused):
            self.owed[item] = refusal_of_rest(error, item)
        elif isinstance(error, Rejected):
            self.owed[item] = refusal_of_push(error.answer.said, "", item)
        elif isinstance(error, Unavailable) and not is_new:
            self._counts[item] = last
        elif last.tries + 1 < TRIES:
            self._counts[item] = Failed(last.tries + 1, answers, now)
        else:
            why = self[item][:SAID_CHARS]
            self.owed[item] = ItemSetAside(item=item, why=why, passing=True)
        if item in self.owed:
            self.pop(item, None)  # the log tells of it from now on

    def keep_back(self, item: str) -> bool:
        """Whether an item is set aside, and the log does not hold that yet."""
        return isinstance(self.owed.get(item), ItemSetAside)

    def worked(self, item: str, state: State | None) -> None:
        """Note that a step of an item went well: its failures are counted anew.

        What was set aside in `state` is taken up, for the item works (None: it may not
        yet). Another step of the item that was refused just now keeps it aside.
        """
        self.pop(item, None)
        self._counts.pop(item, None)
        is_aside = state is not None and state.aside_of(item) is not None
        if is_aside and not self.keep_back(item):
            self.owed[item] = ItemTakenUp(item=item, works=True)

    def forget(self, told: Iterable[str]) -> None:
        """Forget what the log holds now."""
        for item in told:
            self.owed.pop(item, None)

    def note(
        self, name: str, error: BratError, now: int, *, of_effect: bool = False
    ) -> None:
        """Keep an error under a name, and report it if its text is new."""
        if of_effect:
            self._of_effects.add(name)
        if isinstance(error, Limited):
            self.resume_at = max(self.resume_at, error.retry_at)
        until = 0
        if isinstance(error, Refused | Rejected):
            known = self._until.get(name, 0)
            until = known if known > now else now + REFUSED_MS
        self.wait(name, str(error), until)

    def wait(self, name: str, why: str, until: int) -> None:
        """Keep why something waits until a moment (unix ms; 0: it does not)."""
        self._until[name] = until
        if self.get(name) != why:
            self[name] = why
            self.tell(why)

    def keep_only(self, owed: set[str]) -> None:
        """Forget the errors of effects that are no longer owed."""
        for name in self.keys() & self._of_effects - owed:
            self.pop(name, None)
            self._until.pop(name, None)
        self._of_effects &= owed

    def retry_s(self, now: int, sweep_s: float) -> float:
        """Return how long to wait before the next tick.

        While the forge only limits writes, or refuses some for good, the wait is at
        most a sweep: the bot goes on looking.
        """
        cut = CUT & self.keys()
        waits = [self._until.get(name, 0) for name in cut or self]
        refused_until = (max if cut else min)(waits, default=0)
        left_s = (max(self.resume_at, refused_until) - now) / 1000
        return max(RETRY_S, left_s if cut else min(left_s, sweep_s))


OVERLAP: Final = timedelta(minutes=5)
"""How late a list may show an entry."""


@dataclass
class Looks:
    """The looks at one list since the process began."""

    begun: datetime
    """Where the first look begins."""
    seen: dict[int, datetime] = field(default_factory=dict)
    """By number, when each entry found lately was last changed, as it was seen."""

    @property
    def since(self) -> datetime:
        newest = max(self.seen.values(), default=self.begun)
        return max(self.begun, newest - OVERLAP)

    def note(self, found: Mapping[int, datetime]) -> None:
        """Remember what a look found, and forget what no later look can find."""
        self.seen |= found
        since = self.since
        self.seen = {number: at for number, at in self.seen.items() if at >= since}


MOST_PEOPLE: Final = 1_000
"""The most people remembered; those who had no answer for longest are forgotten."""


@dataclass
class AnswerBudget:
    """The answers of the last hour; of a bounded size, however many people ask."""

    _people: OrderedDict[str, GivenAnswers] = field(default_factory=OrderedDict)

    def of(self, by: str, now: int, logged: GivenAnswers | None = None) -> GivenAnswers:
        """Return what somebody had, with what the log tells of: others may write."""
        had = self._people.get(by.casefold(), GivenAnswers())
        if logged is not None:
            last = max(had, logged, key=lambda each: each.told_at)
            had = replace(last, at=had.at | logged.at)
        return self.note(by, of_last_hour(had, now))

    def note(self, by: str, had: GivenAnswers) -> GivenAnswers:
        self._people[by.casefold()] = had
        self._people.move_to_end(by.casefold())
        if len(self._people) > MOST_PEOPLE:
            self._people.popitem(last=False)
        return had


@dataclass(kw_only=True)
class ProcessMemory:
    """Everything announced, tried, seen and shown since the process began."""

    fresh: set[str] = field(default_factory=set)
    """Keys of actions that this process announced and has not tried yet. For all others
    the forge is first searched for an earlier try's result."""
    noted: list[Command] = field(default_factory=list)
    """What was answered or done, and the log does not hold yet."""
    tried: dict[str, int] = field(default_factory=dict)
    """When each action without a certain outcome was tried, unix ms."""
    shown: dict[str, object] = field(default_factory=dict)
    """What the forge was last seen to show, so that nothing is written twice."""
    unticked: dict[int, set[str]] = field(default_factory=dict)
    """By comment, the boxes whose ticks were handled: they are shown empty again."""
    ticks: dict[tuple[int, str], int] = field(default_factory=dict)
    """When each unhandled tick, by comment and box, was first seen; unix ms."""
    comments: Looks | None = None
    issues: Looks | None = None
    assigned: dict[int, datetime] = field(default_factory=dict)
    """By issue found lately, when it was last assigned to the bot, as it was seen."""
    acknowledged: set[int] = field(default_factory=set)
    """The waiting comments to which this process has reacted with eyes."""
    unread: dict[int, LabelledIssue] = field(default_factory=dict)
    """The issues that asked for a convoy at the last look, by number."""
    blocked: dict[int, str] = field(default_factory=dict)
    """By labelled issue that waits for other issues, their addresses."""
    labelled: dict[str, int] = field(default_factory=dict)
    """By key in `shown`, when labels were last set, unix ms."""
    answers: AnswerBudget = field(default_factory=AnswerBudget)
    """The answers that people had within the last hour."""
    configured: tuple[str, int] | None = None
    """The default branch's tip and the file's time (unix ns; 0: none is used) when the
    configuration was last compared."""
    rules_read: dict[str, int] = field(default_factory=dict)
    """When each target's rules were last read, unix ms."""
    given_up: dict[str, int] = field(default_factory=dict)
    """The candidates that were given up while CI judged them, and until when (unix ms)
    a first run of theirs may show; each stays until its runs have ended."""
    is_closing: bool = False
    """Whether the process is about to end: it only takes in what sessions have done."""
    ended: dict[int, int] = field(default_factory=dict)
    """When each run was first seen to have ended, unix ms."""


async def _no_lease() -> None: ...


@dataclass(kw_only=True)
class BotContext:
    """One bot's tools; for one event loop."""

    settings: Settings
    github: GitHub
    mirror: Mirror
    commits: Commits
    composer: Composer
    inbox: Inbox
    actor: bytes
    login: str
    feed: Feed | None = None
    """Receives what running sessions send; None: nothing receives it."""
    clock: Clock = wall_clock
    troubles: Troubles = field(default_factory=Troubles)
    """The current problems; shown by status and at the end."""
    memory: ProcessMemory = field(default_factory=ProcessMemory)
    observed: Observed = field(default_factory=Observed)
    elsewhere: Callable[[], Iterable[int]] = tuple
    """Gives the start times of convoys in the installation's other repositories."""
    hold: Callable[[], Awaitable[None]] = _no_lease
    """Renews the bot's lease before a write that was not announced."""
    onlooker: Rest | None = None
    """Lists the names of the runs' secrets; None: nobody may."""
    _told: tuple[State | None, int, State] = (None, 0, State())
    """The log's state, the number of notes over it, and the state that both give."""

    @property
    def state(self) -> State:
        """The log's state, with what it is to be told."""
        log, count = self.mirror.state, len(self.memory.noted)
        if self._told[0] is not log or self._told[1] != count:
            self._told = log, count, self.draft().state if count else log
        return self._told[2]

    def draft(self) -> "BotDraft":
        """Return a draft over the log as last seen, of what it is to be told."""
        draft = BotDraft(self)
        for command in self.memory.noted:
            draft.submit(command)
        draft.noted = len(self.memory.noted)
        return draft


class BotDraft(Draft):
    """A draft, and the bot whose tools fill it."""

    def __init__(self, bot: BotContext) -> None:
        super().__init__(bot.mirror, bot.actor, bot.clock())
        self.bot = bot


CONFIG_PATH: Final = ".brat/config.toml"


def configuration(context: BotContext) -> Config:
    """Return the configuration that applies to a convoy accepted now.

    Raises:
        ConfigError: one line for each fault.
    """
    file = context.settings.config_file
    if file is not None and file.exists():
        return config_in(file)
    tip = context.mirror.refs[ids.HEADS + context.mirror.default_branch]
    context.mirror.ensure([tip])
    return _committed(context.mirror.path, tip)


@lru_cache(maxsize=64)  # of a hosted bot's repositories; a tick asks several times
def _committed(mirror: Path, commit: str) -> Config:
    tree = pygit2.Repository(str(mirror))[commit].peel(pygit2.Tree)
    found = blob_in(tree, CONFIG_PATH)
    return load(b"" if found is None else found.data, source=CONFIG_PATH)


def usable_configuration(context: BotContext) -> Config | None:
    """Return the configuration; None: whoever asks for a convoy is told why not."""
    try:
        return configuration(context)
    except (ConfigError, KeyError):
        return None


Found = TypeVar("Found")
_log: Final = logging.getLogger(__name__)


@contextmanager
def alone(context: BotContext, item: str, draft: Draft | None = None) -> Iterator[None]:
    """Keep what goes wrong in the block to its item.

    What the log is to be told goes into the draft, if it can be told in this push.

    Raises:
        Conflict: somebody else wrote first; this and other failures that concern every
            item (the lease, the forge's limits) go on to the caller.
    """
    try:
        yield
    except NotAdmitted:
        return
    except OverShare as wait:
        context.troubles.delay(item, str(wait))  # what people wait for goes on
    except Exception as error:
        if isinstance(error, _OF_ALL):
            raise
        note_failure(context, item, error)
    else:
        context.troubles.worked(item, context.mirror.state if draft is None else None)
    if draft is not None:
        draft.tell(context.troubles.owed, item)


def note_failure(context: BotContext, item: str, error: Exception) -> None:
    """Note what went wrong in an item's step; safe to call again."""
    if not isinstance(error, BratError):
        _log.exception("%s: a bug in brat", item)
    answers = context.github.rest.answers
    context.troubles.failed(item, error, answers, context.clock())


async def tried(
    context: BotContext, item: str, step: Callable[[], Awaitable[Found]]
) -> Found | None:
    """Return what a step found; None: it failed, or its item is set aside."""
    found, state = None, context.mirror.state
    is_back = context.troubles.keep_back(item)
    if not is_back and state.may_try(item, context.clock()):
        with alone(context, item):
            found = await step()
    return found


@dataclass(frozen=True)
class Try:
    key: str
    look: bool
    """Whether the action may have been done already, and has to be looked for."""
    settled: bool
    """Whether a look that begins now would see an earlier try's result."""

    def repeat(self) -> None:
        """Check that the action may be done; call after a look found nothing.

        Raises:
            Unsettled: it is too early to believe the look.
        """
        if self.look and not self.settled:
            raise Unsettled(f"{self.key} may already be done: checking again")


def another_try(context: BotContext, key: str) -> Try:
    """Begin a try at an announced action.

    Only a fresh announcement of this process was surely not carried out before.
    """
    look = key not in context.memory.fresh
    context.memory.fresh.discard(key)
    now = context.clock()
    since = context.memory.tried.setdefault(key, now)
    return Try(key, look, settled=now - since >= context.settings.settle_s * 1000)


def quiet_try(context: BotContext, key: str) -> Try:
    """Begin a try at an unannounced action, which only this process may have tried."""
    known, settle_ms = context.memory.tried, context.settings.settle_s * 1000
    settled = context.clock() - known.get(key, 0) >= settle_ms
    return Try(key, look=key in known, settled=settled)


@contextmanager
def trying(context: BotContext, key: str) -> Iterator[None]:
    """Note it if the block's write got no answer: its result may show from now on."""
    try:
        yield
    except Unavailable as error:
        if not isinstance(error, Unsettled):
            context.memory.tried[key] = context.clock()
        raise


Allowance = Literal["answered", "told", "ignored"]
"""`told`: the answer is that it is enough for now; after that there is none."""


async def allowance(context: BotContext, by: str, key: str) -> Allowance:
    """Return what becomes of something said; safe to call twice for the same key."""
    now, logged = context.clock(), context.mirror.state.answers.get(by.casefold())
    had = context.memory.answers.of(by, now, logged)
    if had.told and key not in had.at:
        return "told" if key == had.told else "ignored"
    spent, settings = len(had.at.keys() - {key}), context.settings
    most = settings.answers_hour
    if most <= spent < settings.writer_answers_hour:
        may_write = await context.github.may(by)
        most = settings.writer_answers_hour if may_write else most
    if spent < most:
        had.at.setdefault(key, now)
        return "answered"
    context.memory.answers.note(by, replace(had, told=key, told_at=now))
    return "told"
