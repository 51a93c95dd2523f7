from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grite.errors import Conflict, GitFailed, Unavailable
from grite.remote import RefUpdate, Remote, ensure_mirror
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


def test_with_one_stale_lease_no_ref_moves_though_that_one_stays(
    remote: Remote,
) -> None:
    one, newest = two(remote.mirror)
    remote.push([RefUpdate(MAIN, one, None), RefUpdate(WAL, one, None)])

    for stale in (RefUpdate(WAL, newest, None), RefUpdate(WAL, newest, newest)):
        with pytest.raises(Conflict, match=WAL) as caught:
            remote.push([RefUpdate(MAIN, newest, one), stale])

        assert MAIN not in str(caught.value)
        assert remote.refs() == {MAIN: one, WAL: one}


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
