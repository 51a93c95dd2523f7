"""What every role works with: the mirror, the forge, the clock, and who we are."""

import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bot.clock import Clock, wall_clock
from bot.door.inbox import Inbox
from bot.feed.feed import Feed
from bot.forge.github import GitHub
from bot.repository.compose import Composer
from bot.repository.mirror import Mirror
from bot.settings import Settings
from convoy.observed import Observed


@dataclass(frozen=True)
class Delay:
    """How often something was tried in vain, and when it may be tried again."""

    tries: int
    next_at: int
    """Unix ms."""
    why: str = ""


async def _nothing() -> None:
    """Hold nothing."""


async def _unknown() -> None:
    """Know of no secret."""


@dataclass(kw_only=True)
class Desk:
    """One bot's tools; for one event loop."""

    settings: Settings
    github: GitHub
    mirror: Mirror
    composer: Composer
    inbox: Inbox
    actor: bytes
    login: str
    """Who the bot is on the forge."""
    feed: Feed | None = None
    """What running sessions send; None: nobody receives it."""
    clock: Clock = wall_clock
    fresh: set[str] = field(default_factory=set)
    """Keys of actions that this process announced and has not tried yet: only these
    are done without a look whether they were done before."""
    tried: dict[str, int] = field(default_factory=dict)
    """When each announced action that may have been done was last tried, unix ms."""
    shown: dict[str, object] = field(default_factory=dict)
    """What the forge was last seen to show, so that nothing is written twice."""
    unticked: dict[int, set[str]] = field(default_factory=dict)
    """By comment, the boxes whose ticks were heard: they are shown empty again."""
    ticks: dict[tuple[int, str], int] = field(default_factory=dict)
    """When a tick, by comment and box, was first seen before it was heard; unix ms."""
    delays: dict[str, Delay] = field(default_factory=dict)
    """By key, the notifications that did not arrive yet, and when the next try is."""
    troubles: dict[str, str] = field(default_factory=dict)
    """What the forge refused, by what was tried; said by status and at the end."""
    observed: Observed = field(default_factory=Observed)
    elsewhere: Callable[[], Iterable[int]] = tuple
    """Gives when convoys of the installation's other repositories were started."""
    heard_until: datetime | None = None
    """When the newest comment was written or edited that a look has found."""
    hold: Callable[[], Awaitable[None]] = _nothing
    """Makes sure of the bot's lease before what is not announced is written."""
    secret_names: Callable[[], Awaitable[frozenset[str] | None]] = _unknown
    """Tells the names of the secrets that runs get; None: we may not know."""
    ended: dict[int, int] = field(default_factory=dict)
    """When each run was first seen to have ended, unix ms."""


def actor_of(folder: Path) -> bytes:
    """Return the installation's 16 bytes, drawing them the first time."""
    file = folder / "actor"
    if not file.exists():
        beside = folder / ".actor"
        beside.write_text(secrets.token_hex(16))
        beside.rename(file)
    return bytes.fromhex(file.read_text().strip())
