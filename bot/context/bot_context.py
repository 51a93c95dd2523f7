"""The tools of every role: the mirror, the forge, the clock, the bot's identity."""

import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bot import Clock, wall_clock
from bot.context.process_memory import ProcessMemory
from bot.door.feed import Feed
from bot.door.inbox import Inbox
from bot.forge.github import GitHub
from bot.repository.commits import MirroredCommits
from bot.repository.compose import Composer
from bot.repository.draft import Draft
from bot.repository.mirror import Mirror
from bot.settings.bot_settings import Settings
from convoy.rules.verdict import Observed


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
