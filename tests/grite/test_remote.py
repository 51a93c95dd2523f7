import socket
from pathlib import Path

import pytest

from grite import git
from grite.errors import GitFailed, Unavailable
from grite.remote import RefUpdate, Remote, ensure_mirror
from tests.grite.commits import said, two

MAIN = "refs/heads/main"
WAL = "refs/grite/wal"


def test_a_mirror_can_be_made_twice_and_never_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mirror.git"

    ensure_mirror(path)
    ensure_mirror(path)

    assert said(path, "rev-parse", "--is-bare-repository") == "true"
    assert said(path, "config", "gc.auto") == "0"


def test_one_look_shows_refs_and_the_default_branch(remote: Remote) -> None:
    assert (remote.refs(), remote.default_branch()) == ({}, None)
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
    with pytest.raises(GitFailed, match="not our ref"):
        other.fetch(["1" * 40])


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
