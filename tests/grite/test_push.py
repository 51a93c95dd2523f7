import socket
from pathlib import Path

import pytest

from grite import git
from grite.errors import Conflict, GitFailed, Rejected, Unavailable
from grite.remote import RefUpdate, Remote
from tests.grite.commits import commit, hook, said, two
from tests.world.cases import looped

MAIN = "refs/heads/main"
WAL = "refs/grite/wal"


def test_refs_are_created_moved_and_deleted_and_the_same_push_again_is_harmless(
    remote: Remote,
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])
    updates = [RefUpdate(MAIN, newest, one), RefUpdate(WAL, None, one)]

    for pushed in (updates, updates, []):
        remote.push(pushed)

    assert remote.refs() == {MAIN: newest}
    remote.push([RefUpdate(MAIN, one, newest)])  # back
    assert remote.refs() == {MAIN: one}
    with pytest.raises(GitFailed):
        remote.push([RefUpdate(WAL, "1" * 40, None)])


@looped(
    *((ref, "1" * 40, None) for ref in ("main", "refs/heads/a b", "refs/heads/*")),
    ("refs/heads/a:refs/heads/b", "1" * 40, None),
    *((MAIN, "HEAD", None), (MAIN, "1" * 39, None), (MAIN, "1" * 40, "+" + "1" * 39)),
)
def test_only_full_names_are_pushed(ref: str, new: str, old: str | None) -> None:
    with pytest.raises(ValueError, match="full"):
        RefUpdate(ref, new, old)


def test_an_odd_name_is_not_taken_for_another_and_can_be_pushed(
    remote: Remote,
) -> None:
    one, newest = two(remote.mirror)
    odd = {f"{MAIN}\u2028x": newest, f"{WAL}\x85x": newest, f"{MAIN}\xa0": newest}
    refs = {MAIN: one, **odd}

    remote.push([RefUpdate(ref, to, None) for ref, to in refs.items()])
    unreadable = f"{one}:{MAIN}\udcff"
    git.run(["push", "--quiet", remote.url, unreadable], cwd=remote.mirror)

    assert remote.refs() == refs
    for ref in odd:
        with pytest.raises(Conflict, match=ref):
            remote.push([RefUpdate(ref, None, one)])
    remote.push([RefUpdate(ref, None, newest) for ref in odd])
    assert remote.refs() == {MAIN: one}


def test_a_stale_lease_is_a_conflict_that_names_the_ref(
    remote: Remote, origin: Path
) -> None:
    one, newest = two(remote.mirror)
    third = commit(remote.mirror, {"a": b"3"})
    remote.push([RefUpdate(MAIN, newest, None), RefUpdate("refs/heads/x", third, None)])

    with pytest.raises(Conflict, match=f"{MAIN} is at {newest} but was expected"):
        remote.push([RefUpdate(MAIN, third, one)])
    with pytest.raises(Conflict, match="should not exist yet"):
        remote.push([RefUpdate(MAIN, one, None)])
    with pytest.raises(Conflict, match=f"{WAL} does not exist but was expected"):
        remote.push([RefUpdate(WAL, newest, one)])
    assert remote.refs()[MAIN] == newest

    move = f"git update-ref {MAIN} {third}"  # during the push
    hook(origin, "pre-receive", f"env -u GIT_QUARANTINE_PATH {move}")
    with pytest.raises(Conflict, match=f"{MAIN} is at {third}"):
        remote.push([RefUpdate(MAIN, one, newest), RefUpdate(WAL, one, None)])
    assert WAL not in remote.refs()


def test_a_push_that_was_cut_off_before_it_arrived_can_be_sent_again(
    remote: Remote, origin: Path
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None)])
    hook(origin, "pre-receive", "kill -9 $PPID")
    updates = [RefUpdate(MAIN, newest, one), RefUpdate(WAL, one, None)]

    with pytest.raises(Unavailable, match="hung up"):
        remote.push(updates)

    assert remote.refs() == {MAIN: one}
    (origin / "hooks" / "pre-receive").unlink()
    hook(origin, "post-receive", "kill -9 $PPID")
    remote.push(updates)  # only its answer is cut off
    assert remote.refs() == {MAIN: newest, WAL: one}


# --- looking and fetching, against real repositories and dead ends --------------------


@pytest.mark.parametrize("url", ["file:///nowhere/x.git", "http://127.0.0.1:1/x.git"])
def test_nobody_there_is_unavailable_and_the_token_is_shown_nowhere(
    url: str, mirror: Path
) -> None:
    remote = Remote(url, mirror, token="t0ken")
    one, _ = two(mirror)
    assert "t0ken" not in repr(remote)

    with pytest.raises(Unavailable) as caught:
        remote.refs()
    assert git.authorization("t0ken")["GIT_CONFIG_VALUE_0"] not in str(caught.value)
    with pytest.raises(Unavailable):
        remote.fetch([MAIN])
    with pytest.raises(Unavailable, match="not known whether the push arrived"):
        remote.push([RefUpdate(MAIN, one, None)])


def test_a_server_that_never_answers_is_unavailable(mirror: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x.git"
        with pytest.raises(Unavailable, match=r"git ls-remote took longer than 0\.5 s"):
            Remote(url, mirror, deadline_s=0.5).refs()


# --- how refusals by real git and real hooks reach the one who pushes -----------------


TASK = "refs/heads/convoy/g/task-1"
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


def test_without_atomic_each_refused_ref_has_its_own_words_and_others_move(
    remote: Remote, origin: Path
) -> None:
    updates = created(remote)
    hook(origin, "update", "echo File too large: video.mp4 >&2; exit 1")
    error, _ = refused(remote, *updates)
    assert "File too large: video.mp4" in error.answer.refused[0].said

    hook(origin, "update", "echo 'write error: No space left on device' >&2; exit 1")
    with pytest.raises(Unavailable, match="no space"):  # it is no refusal
        remote.push(updates)

    hook(origin, "update", 'case $1 in */heads/*) echo "not $1" >&2; exit 1; esac')
    error, verdicts = refused(remote, *updates, atomic=False)
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
def test_a_forced_push_or_a_name_that_needs_another_refs_place_is_refused_alone(
    remote: Remote, origin: Path, *, atomic: bool
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None), RefUpdate(TASK, one, None)])
    said(origin, "config", "receive.denyNonFastForwards", "true")
    taken = f"'{TASK}' exists; cannot create"

    for number, update, told in (
        (1, RefUpdate(MAIN, one, newest), "denying non-fast-forward"),
        (2, RefUpdate(f"{TASK}/base", newest, None), taken),
        (3, RefUpdate("refs/heads/convoy/g", newest, None), taken),
    ):
        beside = RefUpdate(f"refs/x/{number}", one, None)
        error, verdicts = refused(remote, update, beside, atomic=atomic)
        other = "collateral" if atomic else "taken"
        assert verdicts == {update.ref: "refused", beside.ref: other}
        assert told in error.answer.refused[0].said
