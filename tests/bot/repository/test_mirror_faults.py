"""What was acknowledged is there, once, whatever breaks while it is written."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.repository.mirror import Mirror
from convoy.events import Event as Fact
from convoy.events.leases import BotStarted, LeaseTaken
from convoy.log.record import fact_of, record
from grite.errors import Unavailable
from grite.event import CommentAdded, Event
from grite.wal import Log
from tests.grite.commits import said
from tests.world.log_keys import open_mirror
from tests.world.patience import patient
from tests.world.remotes import Address

pytestmark = pytest.mark.layer("landing")

ACTOR = bytes(range(16))


def take(mirror: Mirror, number: int) -> tuple[Event, ...]:
    facts: list[Fact] = [] if mirror.state.bots else [BotStarted(version="0")]
    facts.append(
        LeaseTaken(resource=f"port:{number}", holder="me", nonce="n", expires=2**40)
    )
    return record(mirror.state, facts, actor=ACTOR, at=0)[1]


def work(mirror: Mirror, until: int) -> None:
    """Take the resources that are not taken yet, one a push."""
    mirror.look()
    while (number := len(mirror.state.leases) + 1) <= until:
        mirror.push(take(mirror, number), {}, actor=ACTOR)


def logged(address: Address) -> list[str]:
    """Return the resources taken in the remote's log, each as often as it is there."""
    log = Log(address.bare)
    head = log.head()
    entries = log.entries(head) if head else []
    assert not any(entry.faults for entry in entries)
    facts = [
        fact_of(event.kind.body)
        for entry in entries
        for event in entry.events
        if isinstance(event.kind, CommentAdded)
    ]
    return [fact.resource for fact in facts if isinstance(fact, LeaseTaken)]


def ports(many: int) -> list[str]:
    return [f"port:{number}" for number in range(1, many + 1)]


# --- the mirror's own disk ------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a folder on a disk of its own that can be filled; only root makes one."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(path)]
    try:
        subprocess.run(mount, check=True, timeout=patient(20))
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("a disk can only be mounted by root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True, timeout=patient(20))


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                return filler


def test_a_full_disk_loses_nothing(
    tmp_path: Path, disk: Path, file_address: Address
) -> None:
    mirror = open_mirror(disk / "mirror.git", file_address.url, None)
    work(mirror, 2)
    other = open_mirror(tmp_path / "other.git", file_address.url, None)
    other.look()
    filler = fill(disk)

    with pytest.raises(Unavailable, match=r"cannot be written|no space"):
        mirror.push(take(mirror, 3), {}, actor=ACTOR)
    assert logged(file_address) == ports(2)
    other.push(take(other, 3), {}, actor=ACTOR)
    with pytest.raises(Unavailable, match=r"cannot be written|no space"):
        mirror.look()
    assert len(mirror.state.leases) == 2

    filler.unlink()
    work(mirror, 4)
    assert logged(file_address) == ports(4)


def test_a_mirror_that_is_deleted_between_look_and_push_is_made_again(
    tmp_path: Path, address: Address
) -> None:
    path = tmp_path / "mirror.git"
    mirror = open_mirror(path, address.url, address.token)
    work(mirror, 2)
    events = take(mirror, 3)
    subprocess.run(["rm", "-r", str(path)], check=True, timeout=patient(20))

    with pytest.raises(Unavailable):
        mirror.push(events, {}, actor=ACTOR)

    work(mirror, 3)
    assert logged(address) == ports(3)


def test_a_fetch_that_was_killed_halfway_is_done_again(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = open_mirror(tmp_path / "mirror.git", file_address.url, None)
    work(mirror, 2)
    other = open_mirror(tmp_path / "other.git", file_address.url, None)
    for commit in said(mirror.path, "rev-list", str(mirror.head)).split():
        data = said(mirror.path, "cat-file", "commit", commit).encode()
        args = ("hash-object", "--literally", "-t", "commit", "-w", "--stdin")
        assert said(other.path, *args, stdin=data) == commit

    other.look()

    assert (other.state, other.faults) == (mirror.state, ())


def test_a_claim_of_another_century_does_not_date_the_log(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = open_mirror(tmp_path / "mirror.git", file_address.url, None)
    mirror.look()
    claim = Event(bytes(16), bytes(16), 2**62, CommentAdded("I come from far"))

    mirror.push((*take(mirror, 1), claim), {}, actor=ACTOR)

    assert int(said(mirror.path, "show", "-s", "--format=%ct", str(mirror.head))) < 10
