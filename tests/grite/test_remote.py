"""Looking, fetching and pushing, against real repositories and dead ends."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grite import git
from grite.errors import Conflict, GitFailed, Unavailable
from grite.remote import RefUpdate, Remote, ensure_mirror
from tests.grite.commits import commit, said

MAIN = "refs/heads/main"
WAL = "refs/grite/wal"


def hook(repo: Path, name: str, text: str) -> None:
    path = repo / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def two(mirror: Path) -> tuple[str, str]:
    """Two commits, the second after the first."""
    first = commit(mirror, {"a": b"1"})
    return first, commit(mirror, {"a": b"2"}, first)


def test_a_mirror_can_be_made_twice_and_never_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mirror.git"

    ensure_mirror(path)
    ensure_mirror(path)

    assert said(path, "rev-parse", "--is-bare-repository") == "true"
    assert said(path, "config", "gc.auto") == "0"


def test_an_empty_remote_shows_nothing(remote: Remote) -> None:
    assert remote.refs() == {}
    assert remote.default_branch() is None


def test_one_look_shows_refs_and_the_default_branch(remote: Remote) -> None:
    one, _ = two(remote.mirror)
    wanted = {MAIN: one, WAL: one, "refs/heads/a/b": one}
    others = ["refs/tags/v1", "refs/pull/1/head", "refs/pull/refs/heads/x"]
    remote.push([RefUpdate(ref, one, None) for ref in [*wanted, *others]])

    seen = remote.advertised()

    assert seen.refs == wanted
    assert seen.head == MAIN
    assert seen.default_branch == remote.default_branch() == "main"
    assert remote.refs(["refs/pull/*/head"]) == {"refs/pull/1/head": one}


def test_a_fetched_commit_moves_no_ref(remote: Remote, tmp_path: Path) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])
    ensure_mirror(tmp_path / "other.git")
    other = Remote(remote.url, tmp_path / "other.git")

    other.fetch([newest])
    other.fetch([newest])
    other.fetch([])

    assert said(other.mirror, "rev-list", newest).split() == [newest, one]
    assert said(other.mirror, "for-each-ref") == ""
    assert not (other.mirror / "FETCH_HEAD").exists()


def test_a_refspec_moves_what_it_names(remote: Remote, tmp_path: Path) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None), RefUpdate(WAL, one, None)])
    ensure_mirror(tmp_path / "other.git")
    other = Remote(remote.url, tmp_path / "other.git")

    other.fetch([f"+{WAL}:{WAL}"])

    refs = said(other.mirror, "for-each-ref", "--format=%(refname) %(objectname)")
    assert refs == f"{WAL} {one}"


def test_a_shallow_fetch_brings_one_commit(remote: Remote, tmp_path: Path) -> None:
    _, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])
    ensure_mirror(tmp_path / "other.git")
    other = Remote(remote.url, tmp_path / "other.git")

    other.fetch([newest], depth=1)

    assert said(other.mirror, "rev-list", newest) == newest


def test_a_commit_that_is_not_there_cannot_be_fetched(remote: Remote) -> None:
    with pytest.raises(GitFailed, match="not our ref"):
        remote.fetch(["1" * 40])


def test_refs_are_created_moved_and_deleted(remote: Remote) -> None:
    one, newest = two(remote.mirror)

    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])
    remote.push([RefUpdate(MAIN, newest, one), RefUpdate(WAL, None, one)])

    assert remote.refs() == {MAIN: newest}


def test_a_branch_may_be_moved_back_under_its_lease(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])

    remote.push([RefUpdate(MAIN, one, newest)])

    assert remote.refs() == {MAIN: one}


def test_the_same_push_again_is_harmless(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])
    updates = [RefUpdate(MAIN, newest, one), RefUpdate(WAL, None, one)]

    remote.push(updates)
    remote.push(updates)
    remote.push([])

    assert remote.refs() == {MAIN: newest}


def test_a_stale_lease_is_a_conflict_that_names_the_ref(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, newest, None)])

    with pytest.raises(Conflict, match=f"{MAIN} stands at {newest} and was expected"):
        remote.push([RefUpdate(MAIN, commit(remote.mirror, {}), one)])

    assert remote.refs() == {MAIN: newest}


def test_a_ref_that_must_not_exist_is_a_conflict_when_it_does(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None)])

    with pytest.raises(Conflict, match="should not exist yet"):
        remote.push([RefUpdate(MAIN, newest, None)])


def test_a_ref_that_is_gone_is_a_conflict(remote: Remote) -> None:
    one, newest = two(remote.mirror)

    with pytest.raises(Conflict, match=f"{MAIN} does not exist and was expected"):
        remote.push([RefUpdate(MAIN, newest, one)])


def test_with_one_stale_lease_no_ref_moves(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])

    with pytest.raises(Conflict, match=WAL) as caught:
        remote.push([RefUpdate(MAIN, newest, one), RefUpdate(WAL, newest, None)])

    assert MAIN not in str(caught.value)
    assert remote.refs() == {MAIN: one, WAL: one}


def test_a_lease_on_a_ref_that_stays_is_kept_too(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, newest, None)])

    with pytest.raises(Conflict, match=WAL):
        remote.push([RefUpdate(MAIN, newest, one), RefUpdate(WAL, one, one)])

    assert remote.refs() == {MAIN: one, WAL: newest}


def test_without_atomic_the_others_move(remote: Remote) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])
    updates = [RefUpdate(MAIN, newest, one), RefUpdate(WAL, newest, None)]

    with pytest.raises(Conflict, match=WAL):
        remote.push(updates, atomic=False)

    assert remote.refs() == {MAIN: newest, WAL: one}


def test_of_many_who_create_one_ref_one_does(origin: Path, tmp_path: Path) -> None:
    def create(number: int) -> str | None:
        mirror = tmp_path / f"{number}.git"
        ensure_mirror(mirror)
        mine = commit(mirror, {"who": str(number).encode()})
        try:
            Remote(origin.as_uri(), mirror).push([RefUpdate(WAL, mine, None)])
        except Conflict:
            return None
        return mine

    with ThreadPoolExecutor(8) as pool:
        created = [mine for mine in pool.map(create, range(8)) if mine]

    assert created == [said(origin, "rev-parse", WAL)]


def test_a_ref_that_moves_during_the_push_is_a_conflict(
    remote: Remote, origin: Path
) -> None:
    one, newest = two(remote.mirror)
    third = commit(remote.mirror, {"a": b"3"})
    remote.push([RefUpdate(MAIN, one, None), RefUpdate("refs/heads/x", third, None)])
    move = f"git update-ref {MAIN} {third}"
    hook(origin, "pre-receive", f"env -u GIT_QUARANTINE_PATH {move}")

    with pytest.raises(Conflict, match=f"{MAIN} stands at {third}"):
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


def test_a_push_that_the_other_side_forbids_says_why(
    remote: Remote, origin: Path
) -> None:
    one, _ = two(remote.mirror)
    hook(origin, "pre-receive", "echo main is protected >&2; exit 1")

    with pytest.raises(GitFailed, match="hook declined") as caught:
        remote.push([RefUpdate(MAIN, one, None)])

    assert "main is protected" in caught.value.stderr


def test_a_name_that_needs_another_refs_place_is_no_race(remote: Remote) -> None:
    one, _ = two(remote.mirror)
    remote.push([RefUpdate("refs/heads/convoy/a", one, None)])

    with pytest.raises(GitFailed):
        remote.push([RefUpdate("refs/heads/convoy/a/base", one, None)])


def test_a_commit_that_the_mirror_lacks_cannot_be_pushed(remote: Remote) -> None:
    with pytest.raises(GitFailed):
        remote.push([RefUpdate(MAIN, "1" * 40, None)])


@pytest.mark.parametrize("url", ["file:///nowhere/x.git", "http://127.0.0.1:1/x.git"])
def test_nobody_there_is_unavailable(url: str, mirror: Path) -> None:
    remote = Remote(url, mirror)
    one, _ = two(mirror)

    with pytest.raises(Unavailable):
        remote.refs()
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


def test_a_token_is_shown_nowhere(mirror: Path) -> None:
    remote = Remote("http://127.0.0.1:1/x.git", mirror, token="t0ken")

    assert "t0ken" not in repr(remote)
    with pytest.raises(Unavailable) as caught:
        remote.refs()
    assert git.authorization("t0ken")["GIT_CONFIG_VALUE_0"] not in str(caught.value)


@pytest.mark.parametrize(
    ("ref", "new", "old"),
    [
        ("main", "1" * 40, None),
        ("refs/heads/a b", "1" * 40, None),
        ("refs/heads/*", "1" * 40, None),
        ("refs/heads/a:refs/heads/b", "1" * 40, None),
        (MAIN, "HEAD", None),
        (MAIN, "1" * 39, None),
        (MAIN, "1" * 40, "+" + "1" * 39),
    ],
)
def test_only_full_names_are_pushed(ref: str, new: str, old: str | None) -> None:
    with pytest.raises(ValueError, match="full"):
        RefUpdate(ref, new, old)
