"""One bot acts at a time, whatever its clock says."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bot.loop.pushing import SPARE_S, TTL_S, BotLease
from bot.repository.mirror import Mirror
from bot.roles.bot_context import NotHolder
from grite import lease
from grite.errors import Conflict
from grite.resource import BOT as RESOURCE
from grite.signatures import Writer
from tests.bot.history import History
from tests.bot.logs import Open, paused, resumed, story, write
from tests.world.hand import HandTime
from tests.world.log_keys import LOG_KEY, OTHER_KEY
from tests.world.rules import ACTOR

OTHER = bytes(range(16, 32))
NOW = 1_700_000_000_000


@dataclass
class Bot:
    mirror: Mirror
    lease: BotLease
    clock: HandTime

    def look(self) -> "Bot":
        self.mirror.look()
        return self

    def push(self, now: int = NOW) -> "Bot":
        update = self.lease.renewed(now)
        self.mirror.push((), {update.ref: update}, actor=self.lease.actor)
        self.lease.pushed(update)
        return self


Start = Callable[..., Bot]


@pytest.fixture
def start(opened: Open) -> Start:
    def start(name: str, actor: bytes = ACTOR, *, sole: bool = False) -> Bot:
        mirror, clock = opened(name), HandTime()
        mirror.look()
        lease = BotLease(mirror, actor, sole=sole, ticking=clock.time.steady)
        return Bot(mirror, lease, clock)

    return start


@pytest.mark.parametrize("actor", [OTHER, ACTOR], ids=["another", "the same"])
@pytest.mark.parametrize("off_ms", [-(10**12), 0, 10**9, 10**12])
def test_another_bot_waits(off_ms: int, actor: bytes, start: Start) -> None:
    """No difference of clocks takes a live bot's lease, nor its own other process."""
    start("one").push()
    other = start("two", actor)

    with pytest.raises(NotHolder, match=r"bot \(00010203\) holds repo:bot"):
        other.push(NOW + off_ms)

    assert not other.lease.held


def test_a_lease_that_moves_is_alive_and_after_its_whole_life_unmoved_dead(
    start: Start,
) -> None:
    one, other = start("one").push(), start("two", OTHER)
    for _ in range(3):
        with pytest.raises(NotHolder, match=f"takes over in {TTL_S} s"):
            other.look().push()
        other.clock.passed += TTL_S
        one.push(NOW + 1_000 * int(other.clock.passed))

    with pytest.raises(NotHolder, match=f"takes over in {TTL_S} s"):
        other.look().push()
    other.clock.passed += TTL_S - 1
    with pytest.raises(NotHolder, match="takes over in 1 s"):
        other.look().push()
    other.clock.passed += 1

    assert other.look().push().lease.held


def test_the_lease_of_a_dead_process_stands_until_its_writes_have_arrived(
    start: Start,
) -> None:
    bot, other = start("one").push(), start("two", OTHER)
    other.lease.dead = frozenset({bot.lease.nonce})
    with pytest.raises(NotHolder, match="takes over in 10 s"):
        other.push()

    other.clock.passed += SPARE_S

    assert other.push().lease.held


def test_who_lost_the_lease_cannot_push(start: Start, origin: History) -> None:
    one, other = start("one").push(), start("two", OTHER)
    with pytest.raises(NotHolder):
        other.push()
    other.clock.passed += TTL_S
    other.push()

    events = story()
    update = one.lease.renewed(NOW + 1)
    with pytest.raises(Conflict, match="refs/grite/locks/"):
        one.mirror.push(events, {update.ref: update}, actor=ACTOR)

    ref = origin.repo.references[lease.ref_of(RESOURCE)]
    assert lease.read(origin.repo, str(ref.target)).owner == OTHER
    assert "refs/grite/wal" not in origin.repo.references
    assert not one.look().lease.held
    with pytest.raises(NotHolder):
        one.push()


@pytest.mark.parametrize(
    "writer", [None, OTHER_KEY.writer(), LOG_KEY.writer("2"), "no lease"]
)
def test_a_lease_that_no_allowed_key_signed_binds_nobody(
    writer: Writer | str | None, start: Start, origin: History
) -> None:
    """It held the bot up for as long as somebody pushed another one each minute."""
    if isinstance(writer, str):
        made = origin.commit({"lock.json": b"no json"})
    else:
        theirs = lease.Lock(OTHER, "mine", NOW * 2, RESOURCE)
        made = lease.write(origin.repo, theirs, parent=None, at_ms=NOW, writer=writer)
    origin.point(lease.ref_of(RESOURCE), made)

    assert start("one").push().lease.held


def test_an_old_lease_that_is_pushed_again_binds_nobody(
    start: Start, origin: History
) -> None:
    bot = start("one").push()
    old = bot.mirror.refs[bot.lease.ref]
    write(bot.mirror, *story())
    write(bot.mirror, *paused(bot.mirror))
    write(bot.mirror, *resumed(bot.mirror))
    origin.point(bot.lease.ref, old)

    assert start("two", OTHER).push().lease.held


def test_its_own_lease_is_known_again_though_unheard_deleted_or_a_dead_process_s(
    start: Start, origin: History
) -> None:
    bot = start("one")
    update = bot.lease.renewed(NOW)
    bot.mirror.remote.push((update,))  # and the process never heard of it
    assert bot.look().push(NOW + 1_000).lease.held

    origin.repo.references.delete(bot.lease.ref)
    assert bot.look().push(NOW + 2_000).lease.held

    assert start("two", sole=True).push(NOW + 3_000).lease.held, "a file lock decides"
