"""How refusals by real git and real hooks reach the one who pushes."""

from pathlib import Path

import pytest

from grite.errors import Rejected, Unavailable
from grite.remote import RefUpdate, Remote
from tests.grite.commits import hook, said, two

MAIN = "refs/heads/main"
TASK = "refs/heads/convoy/g/task-1"
WAL = "refs/grite/wal"
ASKED = [MAIN, TASK, WAL]


def refused(
    remote: Remote, *updates: RefUpdate, atomic: bool = True
) -> tuple[Rejected, dict[str, str]]:
    """Push, and return the error and each ref's verdict."""
    with pytest.raises(Rejected) as caught:
        remote.push(updates, atomic=atomic)
    verdicts = {one.ref: one.verdict for one in caught.value.answer.refs}
    return caught.value, dict(verdicts)


def created(remote: Remote) -> list[RefUpdate]:
    one, _ = two(remote.mirror)
    return [RefUpdate(ref, one, None) for ref in ASKED]


def test_an_update_hook_names_the_first_ref_it_refuses(
    remote: Remote, origin: Path
) -> None:
    hook(origin, "update", 'case $1 in */convoy/*) echo "no $1 here" >&2; exit 1; esac')

    error, verdicts = refused(remote, *created(remote))

    assert verdicts == {MAIN: "collateral", TASK: "refused", WAL: "collateral"}
    assert str(error) == (f"the remote refused {TASK}: no {TASK} here (hook declined)")
    assert remote.refs() == {}


def test_without_atomic_each_refused_ref_has_its_own_words_and_others_move(
    remote: Remote, origin: Path
) -> None:
    hook(origin, "update", 'case $1 in */heads/*) echo "not $1" >&2; exit 1; esac')

    error, verdicts = refused(remote, *created(remote), atomic=False)

    assert verdicts == {MAIN: "refused", TASK: "refused", WAL: "taken"}
    told = {one.ref: one.said for one in error.answer.refused}
    assert told == {ref: f"not {ref} (hook declined)" for ref in (MAIN, TASK)}
    assert remote.refs().keys() == {WAL}


@pytest.mark.parametrize("atomic", [True, False])
def test_a_pre_receive_hook_refuses_everything_and_names_what_it_says(
    remote: Remote, origin: Path, *, atomic: bool
) -> None:
    updates = created(remote)
    hook(origin, "pre-receive", "echo no pushes today >&2; exit 1")
    error, verdicts = refused(remote, *updates, atomic=atomic)
    assert set(verdicts.values()) == {"refused"}
    assert error.answer.unnamed
    assert "no pushes today" in str(error)

    hook(origin, "pre-receive", "echo branch main is frozen >&2; exit 1")
    error, verdicts = refused(remote, *updates, atomic=atomic)

    assert verdicts == {MAIN: "refused", TASK: "collateral", WAL: "collateral"}
    assert remote.refs() == {}


@pytest.mark.parametrize("atomic", [True, False])
def test_a_server_that_takes_no_forced_push_names_the_ref(
    remote: Remote, origin: Path, *, atomic: bool
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])
    said(origin, "config", "receive.denyNonFastForwards", "true")
    updates = RefUpdate(MAIN, one, newest), RefUpdate(WAL, one, None)

    error, verdicts = refused(remote, *updates, atomic=atomic)

    assert verdicts == {MAIN: "refused", WAL: "collateral" if atomic else "taken"}
    assert "denying non-fast-forward" in error.answer.refused[0].said


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("below", [f"{TASK}/base", "refs/heads/convoy/g"])
def test_a_name_that_needs_another_refs_place_is_refused_alone(
    remote: Remote, below: str, *, atomic: bool
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(TASK, one, None)])
    updates = RefUpdate(below, newest, None), RefUpdate(WAL, one, None)

    error, verdicts = refused(remote, *updates, atomic=atomic)

    assert verdicts == {below: "refused", WAL: "collateral" if atomic else "taken"}
    assert f"'{TASK}' exists; cannot create" in error.answer.refused[0].said


def test_a_server_whose_disk_is_full_is_no_refusal_and_a_file_too_large_is_one(
    remote: Remote, origin: Path
) -> None:
    updates = created(remote)
    hook(origin, "update", "echo File too large: video.mp4 >&2; exit 1")
    error, _ = refused(remote, *updates)
    assert "File too large: video.mp4" in error.answer.refused[0].said

    hook(origin, "update", "echo 'write error: No space left on device' >&2; exit 1")
    with pytest.raises(Unavailable, match="no space"):
        remote.push(updates)
