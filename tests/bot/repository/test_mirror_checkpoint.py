"""A new clone begins at a checkpoint that is of use, and costs what came after it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.repository.mirror import Mirror
from convoy.log import record as states
from convoy.log.record import Reading
from convoy.model.state import Moment, State
from grite import checkpoint, git
from grite.errors import Rewritten
from grite.wal import WAL_REF, Log
from tests.bot.logs import Open, paused, resumed, story, write
from tests.grite.commits import commit, said
from tests.world.log_keys import open_mirror
from tests.world.remotes import Address
from tests.world.rules import NAME

pytestmark = pytest.mark.layer("landing")

NOW = 1_700_000_000_000


def opener(folder: Path, address: Address) -> Open:
    def opened(name: str) -> Mirror:
        return open_mirror(folder / f"{name}.git", address.url, address.token)

    return opened


def begun(mirror: Mirror, pauses: int = 3) -> Mirror:
    """Let a bot log a convoy that is paused and resumed again and again."""
    mirror.look()
    write(mirror, *story())
    for _ in range(pauses):
        write(mirror, *paused(mirror))
        write(mirror, *resumed(mirror))
    return mirror


def mark(mirror: Mirror, now: int = NOW) -> str:
    """Push a checkpoint and return its commit."""
    updates = mirror.checkpoint(now)
    mirror.push((), {update.ref: update for update in updates}, actor=bytes(16))
    return str(updates[0].new)


def test_a_clone_without_history_can_push_and_read_on(
    tmp_path: Path, address: Address
) -> None:
    opened = opener(tmp_path, address)
    mirror = begun(opened("mirror"))
    mark(mirror)
    other = opened("other")
    other.look()

    write(other, *paused(other))
    mirror.look()
    write(mirror, *resumed(mirror))
    other.look()
    again = opened("other")
    again.look()

    assert mirror.state == other.state == again.state
    assert other.state.convoys[NAME].state == "active"
    assert Log(address.bare).entries(address.refs()[WAL_REF])[-1].faults == ()
    said(address.bare, "fsck", "--strict", "--no-dangling")


def rubbish(mirror: Mirror) -> str:
    return checkpoint.write(mirror.objects, b"{", str(mirror.head), NOW, mirror.writer)


def foreign(mirror: Mirror) -> str:
    return commit(mirror.path, {"README.md": b"hello"})


def of_another_commit(mirror: Mirror) -> str:
    data = states.encode_reading(Reading(State(moment=Moment("1" * 40, 7))))
    return checkpoint.write(mirror.objects, data, str(mirror.head), NOW, mirror.writer)


FAULTS = {
    rubbish: "state cannot be read",
    foreign: "it is not signed",
    of_another_commit: "its state belongs to 1111",
}


@pytest.mark.parametrize("with_an_older_one", [False, True])
@pytest.mark.parametrize(("bad", "fault"), FAULTS.items())
def test_one_that_is_of_no_use_is_named_and_the_next_is_taken(
    bad: Callable[[Mirror], str],
    fault: str,
    *,
    with_an_older_one: bool,
    tmp_path: Path,
    file_address: Address,
) -> None:
    opened = opener(tmp_path, file_address)
    mirror = begun(opened("mirror"))
    if with_an_older_one:
        mark(mirror, NOW - 1)
    ref = checkpoint.ref_of(NOW)
    said(mirror.path, "push", "-q", file_address.url, f"{bad(mirror)}:{ref}")
    write(mirror, *paused(mirror))
    other = opened("other")

    other.look()

    assert other.state == mirror.state
    (notice,) = other.notices
    assert notice.startswith(f"{ref} cannot be used, so brat reads the log instead")
    assert fault in notice
    assert (other.reading.events < 10) == with_an_older_one
    write(other, *resumed(other))
    mirror.look()
    assert other.state == mirror.state


def test_a_deleted_mirror_cannot_put_back_what_it_no_longer_has(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = begun(opener(tmp_path, file_address)("mirror"))
    said(file_address.bare, "update-ref", "-d", WAL_REF)
    git.run(["prune", "--expire=now"], cwd=file_address.bare)
    shutil.rmtree(mirror.path)

    with pytest.raises(Rewritten, match=r"the log is gone.*cannot be restored"):
        mirror.look()
