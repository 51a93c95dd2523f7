import socket
from pathlib import Path

import pytest

from grite import git
from grite.errors import Conflict, GitFailed, Unavailable
from grite.remote import RefUpdate, Remote
from tests.grite.commits import commit, hook, two
from tests.world.cases import looped

MAIN = "refs/heads/main"
WAL = "refs/grite/wal"


def test_refs_are_created_moved_and_deleted_and_the_same_push_again_is_harmless(
    remote: Remote,
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])
    updates = [RefUpdate(MAIN, newest, one), RefUpdate(WAL, None, one)]

    remote.push(updates)
    remote.push(updates)
    remote.push([])

    assert remote.refs() == {MAIN: newest}
    remote.push([RefUpdate(MAIN, one, newest)])  # back
    assert remote.refs() == {MAIN: one}
    with pytest.raises(GitFailed):
        remote.push([RefUpdate(WAL, "1" * 40, None)])


def test_a_stale_lease_is_a_conflict_that_names_the_ref(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])

    with pytest.raises(Conflict, match=f"{MAIN} is at {newest} but was expected"):
        remote.push([RefUpdate(MAIN, commit(remote.mirror, {}), one)])
    with pytest.raises(Conflict, match="should not exist yet"):
        remote.push([RefUpdate(MAIN, one, None)])
    with pytest.raises(Conflict, match=f"{WAL} does not exist but was expected"):
        remote.push([RefUpdate(WAL, newest, one)])

    assert remote.refs() == {MAIN: newest}


def test_a_ref_that_moves_during_the_push_is_a_conflict(
    remote: Remote, origin: Path
) -> None:
    one, newest = two(remote.mirror)
    third = commit(remote.mirror, {"a": b"3"})
    remote.push([RefUpdate(MAIN, one, None), RefUpdate("refs/heads/x", third, None)])
    move = f"git update-ref {MAIN} {third}"
    hook(origin, "pre-receive", f"env -u GIT_QUARANTINE_PATH {move}")

    with pytest.raises(Conflict, match=f"{MAIN} is at {third}"):
        remote.push([RefUpdate(MAIN, newest, one), RefUpdate(WAL, one, None)])

    assert WAL not in remote.refs()


def test_a_push_whose_answer_was_cut_off_has_arrived(
    remote: Remote, origin: Path
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None)])
    hook(origin, "post-receive", "kill -9 $PPID")

    remote.push([RefUpdate(MAIN, newest, one), RefUpdate(WAL, one, None)])

    assert remote.refs() == {MAIN: newest, WAL: one}


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
    remote.push(updates)
    assert remote.refs() == {MAIN: newest, WAL: one}


@looped(
    ("main", "1" * 40, None),
    ("refs/heads/a b", "1" * 40, None),
    ("refs/heads/*", "1" * 40, None),
    ("refs/heads/a:refs/heads/b", "1" * 40, None),
    (MAIN, "HEAD", None),
    (MAIN, "1" * 39, None),
    (MAIN, "1" * 40, "+" + "1" * 39),
)
def test_only_full_names_are_pushed(ref: str, new: str, old: str | None) -> None:
    with pytest.raises(ValueError, match="full"):
        RefUpdate(ref, new, old)


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
        remote = Remote(url, mirror, deadline_s=0.5)

        with pytest.raises(Unavailable, match=r"git ls-remote took longer than 0\.5 s"):
            remote.refs()
