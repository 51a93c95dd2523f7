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
from tests.world.log_keys import open_mirror, signed_commit
from tests.world.remotes import Address
from tests.world.rules import NAME

pytestmark = pytest.mark.layer("landing")

NOW = 1_700_000_000_000
PAUSED = 3
"""Events that pausing a convoy makes: two labels and a comment."""


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


def history(mirror: Mirror) -> int:
    return len(said(mirror.path, "rev-list", str(mirror.head)).splitlines())


# --- beginning there ------------------------------------------------------------------


def test_a_new_clone_brings_only_what_came_after(
    tmp_path: Path, address: Address
) -> None:
    opened = opener(tmp_path, address)
    mirror = begun(opened("mirror"), pauses=10)
    mark(mirror)
    write(mirror, *paused(mirror))
    other = opened("other")

    other.look()

    assert other.state == mirror.state
    assert history(mirror) == 22
    assert history(other) == 2
    assert (other.notices, other.faults) == ([], ())
    assert other.since_checkpoint == PAUSED


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


def test_a_process_that_starts_anew_begins_there_too(
    tmp_path: Path, file_address: Address
) -> None:
    opened = opener(tmp_path, file_address)
    mirror = begun(opened("mirror"))
    mark(mirror)
    write(mirror, *paused(mirror))
    again = opened("mirror")

    again.look()

    assert again.state == mirror.state
    assert again.since_checkpoint == PAUSED


def test_what_could_not_be_read_before_it_is_still_said(
    tmp_path: Path, file_address: Address
) -> None:
    opened = opener(tmp_path, file_address)
    mirror = begun(opened("mirror"))
    odd = signed_commit(
        file_address.bare, {"README.md": b"hello"}, mirror.head, mirror.writer
    )
    said(file_address.bare, "update-ref", WAL_REF, odd)
    mirror.look()
    mark(mirror)
    other = opened("other")

    other.look()

    assert len(other.faults) == 1
    assert other.faults == mirror.faults


# --- making them ----------------------------------------------------------------------


def test_three_are_kept(tmp_path: Path, file_address: Address) -> None:
    mirror = begun(opener(tmp_path, file_address)("mirror"))

    for number in range(5):
        mark(mirror, NOW + number)

    refs = checkpoint.newest_first(file_address.refs())
    assert refs == [checkpoint.ref_of(NOW + number) for number in (4, 3, 2)]
    assert checkpoint.newest_first(mirror.refs) == refs


def test_the_count_begins_again_with_each(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = begun(opener(tmp_path, file_address)("mirror"))
    assert mirror.since_checkpoint > 20

    mark(mirror)
    assert mirror.since_checkpoint == 0
    mirror.look()
    write(mirror, *paused(mirror))

    assert mirror.since_checkpoint == PAUSED


def test_without_a_log_there_is_nothing_to_keep(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = opener(tmp_path, file_address)("mirror")
    mirror.look()

    assert mirror.checkpoint(NOW) == ()


# --- of no use ------------------------------------------------------------------------


def rubbish(mirror: Mirror) -> str:
    return checkpoint.write(mirror.objects, b"{", str(mirror.head), NOW, mirror.writer)


def foreign(mirror: Mirror) -> str:
    return commit(mirror.path, {"README.md": b"hello"})


def of_another_version(mirror: Mirror) -> str:
    data = states.encode_reading(mirror.reading).replace(b'"v":2', b'"v":9')
    return checkpoint.write(mirror.objects, data, str(mirror.head), NOW, mirror.writer)


def of_another_form(mirror: Mirror) -> str:
    data = states.encode_reading(mirror.reading)
    at = data.index(b'"form":"') + len(b'"form":"')
    digit = b"0" if data[at : at + 1] != b"0" else b"1"
    other = data[:at] + digit + data[at + 1 :]
    return checkpoint.write(mirror.objects, other, str(mirror.head), NOW, mirror.writer)


def of_another_commit(mirror: Mirror) -> str:
    data = states.encode_reading(Reading(State(moment=Moment("1" * 40, 7))))
    return checkpoint.write(mirror.objects, data, str(mirror.head), NOW, mirror.writer)


FAULTS = {
    rubbish: "state cannot be read",
    foreign: "it is not signed",
    of_another_version: "by a different version",
    of_another_form: "by a different version",
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
    assert (other.since_checkpoint < 10) == with_an_older_one
    write(other, *resumed(other))
    mirror.look()
    assert other.state == mirror.state


# --- a clone that lacks history -------------------------------------------------------


def test_when_every_checkpoint_is_gone_a_clone_without_history_brings_it(
    tmp_path: Path, address: Address
) -> None:
    opened = opener(tmp_path, address)
    mirror = begun(opened("mirror"))
    mark(mirror)
    other = opened("other")
    other.look()
    said(address.bare, "update-ref", "-d", checkpoint.ref_of(NOW))
    again = opened("other")

    again.look()

    assert again.state == mirror.state
    assert history(again) == history(mirror)
    write(again, *paused(again))
    mirror.look()
    assert mirror.state == again.state


def test_a_shallow_clone_may_be_the_mirror(tmp_path: Path, address: Address) -> None:
    opened = opener(tmp_path, address)
    mirror = begun(opened("mirror"))
    shallow = opened("shallow")
    shallow.remote.fetch([f"+{WAL_REF}:refs/found/grite/wal"], 1)
    assert history(mirror) > 1

    shallow.look()

    assert shallow.state == mirror.state
    assert history(shallow) == history(mirror)


def test_the_mirror_may_be_deleted_at_any_time(
    tmp_path: Path, address: Address
) -> None:
    opened = opener(tmp_path, address)
    mirror, other = begun(opened("mirror")), opened("other")
    mark(mirror)
    other.look()
    shutil.rmtree(mirror.path)
    write(other, *paused(other))

    mirror.look()
    assert mirror.state == other.state
    assert history(mirror) == 2  # what was in memory needs no history

    shutil.rmtree(mirror.path)
    mirror.look()
    write(mirror, *resumed(mirror))
    other.look()
    assert mirror.state == other.state
    assert mirror.state.convoys[NAME].state == "active"


def test_a_deleted_mirror_cannot_put_back_what_it_no_longer_has(
    tmp_path: Path, file_address: Address
) -> None:
    mirror = begun(opener(tmp_path, file_address)("mirror"))
    said(file_address.bare, "update-ref", "-d", WAL_REF)
    git.run(["prune", "--expire=now"], cwd=file_address.bare)
    shutil.rmtree(mirror.path)

    with pytest.raises(Rewritten, match=r"the log is gone.*cannot be restored"):
        mirror.look()
