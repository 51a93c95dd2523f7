"""The tools of every role, and their use: configuration, one item alone, tries.

A forge can show a write late: an immediate look finds nothing, and a repeat would write
twice. So a write whose answer was lost is repeated only after it has had time to show
and was not found.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar

from bot import Clock, wall_clock
from bot.door.feed import Feed
from bot.door.inbox import Inbox
from bot.forge.github import GitHub
from bot.forge.pace import OverShare
from bot.repository.commits import MirroredCommits
from bot.repository.compose import Composer
from bot.repository.draft import Draft, NotAdmitted
from bot.repository.mirror import Mirror
from bot.roles.process_memory import ProcessMemory, Unsettled, of_all
from bot.settings.bot_settings import Settings, config_in
from convoy.config import Config, load
from convoy.model import ids
from convoy.model.state import may_try
from convoy.rules.verdict import Observed
from grite import git
from grite.errors import BratError


async def _nothing() -> None:
    """Hold no lease, and check no name."""


async def _unknown() -> None:
    """Know of no secret."""


async def _unknown_environments(_: Iterable[str]) -> None:
    """Know of no environment."""


@dataclass(kw_only=True)
class BotContext:
    """One bot's tools; for one event loop."""

    settings: Settings
    github: GitHub
    mirror: Mirror
    commits: MirroredCommits
    composer: Composer
    inbox: Inbox
    actor: bytes
    login: str
    """The bot's account on the forge."""
    feed: Feed | None = None
    """Receives what running sessions send; None: nothing receives it."""
    clock: Clock = wall_clock
    troubles: dict[str, str] = field(default_factory=dict)
    """The current problems, by failed action; shown by status and at the end."""
    memory: ProcessMemory = field(default_factory=ProcessMemory)
    observed: Observed = field(default_factory=Observed)
    elsewhere: Callable[[], Iterable[int]] = tuple
    """Gives the start times of convoys in the installation's other repositories."""
    confirm: Callable[[], Awaitable[None]] = _nothing
    """Checks that the repository's name still stands for it; raises if not."""
    hold: Callable[[], Awaitable[None]] = _nothing
    """Renews the bot's lease before a write that was not announced."""
    secret_names: Callable[[], Awaitable[frozenset[str] | None]] = _unknown
    """Returns the names of the runs' secrets; None: the bot may not list them."""

    open_environments: Callable[[Iterable[str]], Awaitable[frozenset[str] | None]] = (
        _unknown_environments
    )
    """Returns which of the named environments of Actions let in our branches; None:
    the bot may not know."""

    def draft(self) -> Draft:
        """Return an empty draft over the log as last seen."""
        return Draft(self.mirror, self.actor, self.clock())


def actor_of(folder: Path) -> bytes:
    """Return the installation's actor id, 16 bytes, drawn at random the first time."""
    file = folder / "actor"
    if not file.exists():
        beside = folder / ".actor"
        beside.write_text(secrets.token_hex(16))
        beside.rename(file)
    return bytes.fromhex(file.read_text().strip())


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
    found = git.run(
        ["cat-file", "blob", f"{tip}:{CONFIG_PATH}"],
        cwd=context.mirror.path,
        check=False,
    )
    return load(found.stdout if found.status == 0 else b"", source=CONFIG_PATH)


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
        context.memory.failures.wait(item)  # what people wait for goes on
        context.troubles[item] = str(wait)
    except Exception as error:
        if of_all(error):
            raise
        note_failure(context, item, error)
    else:
        context.troubles.pop(item, None)
        context.memory.failures.passed(item)
        if draft is None:
            context.memory.failures.worked(item, context.mirror.state)
    if draft is not None:
        draft.tell(context.memory.failures.owed, item)


def note_failure(context: BotContext, item: str, error: Exception) -> None:
    """Note what went wrong in an item's step; safe to call again."""
    if not isinstance(error, BratError):
        _log.exception("%s: a fault of ours", item)
    failures = context.memory.failures
    failures.note(item, error, context.github.answers, context.clock())
    if item in failures.owed:
        context.troubles.pop(item, None)  # the log tells of it from now on
    else:
        context.troubles[item] = str(error) or repr(error)


async def tried(
    context: BotContext, item: str, step: Callable[[], Awaitable[Found]]
) -> Found | None:
    """Return what a step found; None: it failed, or its item is set aside."""
    found = None
    if may_try(context.mirror.state, item, context.clock()):
        with alone(context, item):
            found = await step()
    return found


@dataclass(frozen=True)
class Try:
    """One try at an announced action."""

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
            raise Unsettled(f"{self.key} may have been done: it is looked for again")


def another_try(context: BotContext, key: str) -> Try:
    """Begin a try at an announced action.

    Only a fresh announcement of this process was surely not carried out before. A
    one-tick process does not wait: it starts long after the previous one.
    """
    look = key not in context.memory.fresh
    context.memory.fresh.discard(key)
    now = context.clock()
    since = context.memory.tried.setdefault(key, 0 if context.settings.once else now)
    return Try(key, look, settled=now - since >= context.settings.settle_s * 1000)


def quiet_try(context: BotContext, key: str) -> Try:
    """Begin a try at an unannounced action, which only this process may have tried."""
    since = context.memory.tried.get(key)
    if since is None:
        return Try(key, look=False, settled=True)
    settled = context.clock() - since >= context.settings.settle_s * 1000
    return Try(key, look=True, settled=settled)


def failed_try(context: BotContext, key: str) -> None:
    """Note that a try got no answer: its result may show from now on."""
    context.memory.tried[key] = context.clock()


Allowance = Literal["answered", "told", "ignored"]
"""`told`: the answer is that it is enough for now; after that there is none."""


async def allowance(context: BotContext, by: str, key: str) -> Allowance:
    """Return what becomes of something said. Safe to call twice for the same key.

    Whether a person may write is asked only of those who say much.
    """
    budget, now = context.memory.answers, context.clock()
    budget.recall(by, context.mirror.state.answers.get(by.casefold()))
    spent, settings = budget.spent(by, key, now), context.settings
    most = settings.answers_hour
    if most <= spent < settings.writer_answers_hour:
        may_write = await context.github.may_write(by)
        most = settings.writer_answers_hour if may_write else most
    if spent < most:
        budget.spend(by, key, now)
        return "answered"
    return "told" if budget.may_tell(by, key, now) else "ignored"
