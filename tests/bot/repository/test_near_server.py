"""A server of this machine takes looks and pushes without git's client, told alike."""

import random
import re
from pathlib import Path

import pytest

from bot.repository.near_server import remote_at
from grite import git
from grite.errors import BratError
from grite.remote import RefUpdate, Remote, ensure_mirror
from tests.grite.commits import hook, two
from tests.world.cases import looped
from tests.world.remotes import Address, by_http

X, Y = "refs/heads/x", "refs/heads/y"


def _outcomes(address: Address, mirror: Path, *, near: bool) -> list[str]:
    """Return what comes of each look and push; the last are of those who may not."""

    def remote(token: str | None, url: str = address.url) -> Remote:
        return (remote_at if near else Remote)(url, mirror, token)

    ensure_mirror(mirror)
    one, newest = two(mirror)
    told = []

    def push(
        at: Remote, *updates: tuple[str, str | None, str | None], atomic: bool = True
    ) -> None:
        try:
            at.push([RefUpdate(*each) for each in updates], atomic=atomic)
        except BratError as error:
            said = str(error).replace(f"{address.url}/", address.url)
            told.append(f"{type(error).__name__}: {said}")
        else:
            told.append(str(sorted(at.advertised().refs.items())))

    own = remote(address.token)
    push(own, (X, one, None))
    push(own, (X, newest, one))
    push(own, (X, newest, one))  # it has arrived already
    push(own, (X, one, None))
    push(own, (X, newest, newest), (Y, one, None))
    push(own, (X, one, one), (Y, newest, one))
    push(own, (X, one, newest), (Y, newest, None), atomic=False)
    push(own, (f"{Y}/z", one, None))  # where a branch stands
    push(own, ("refs/pull/1/head", one, None))
    hook(address.bare, "update", f'test "$1" != {Y} || {{ echo "no $1" >&2; exit 1; }}')
    push(own, (X, newest, one), (Y, newest, one))
    push(own, (X, newest, one), (Y, newest, one), atomic=False)
    push(own, (X, None, newest))
    push(remote(address.reader), (X, one, None))
    return told


def _plain(told: list[str], url: str) -> list[str]:
    """Return what was told, with names in the place of what differs in each run."""
    seen: dict[str, str] = {}

    def name(at: re.Match[str]) -> str:
        return seen.setdefault(at[0], f"#{len(seen)}")

    return [re.sub(r"[0-9a-f]{40}", name, each.replace(url, "URL")) for each in told]


def test_the_outcome_is_git_s(tmp_path: Path) -> None:
    outcomes = []
    for near in (False, True):
        folder = tmp_path / str(near)
        folder.mkdir()
        with by_http(folder) as address:
            found = _outcomes(address, folder / "mirror.git", near=near)
        outcomes.append(_plain(found, address.url))

    assert outcomes[0] == outcomes[1]
    assert "no refs/heads/y" in "".join(outcomes[0]), "the hook did not run"


LINK = "M 120000 inline link\ndata 3\na/b\n"
MODULE = f"M 160000 {'1' * 40} module\n"
DEEP = f"M 100644 inline {'f/' * 1900}e\ndata 0\n"
CHANGES = (
    ("x", f"M 100644 inline a/b/c\ndata 1\n1\n{LINK}{MODULE}"),
    ("x", "C a/b/c a/b/d\nR a/b/c c\n"),
    ("y", "from :2\nM 100644 inline link/e\ndata 1\n2\nD a/b/d\n"),
    ("x", "M 100755 inline c\ndata {size}\n{text}\nD module\n" + DEEP),
    ("x", "merge :3\nM 100644 inline a/b\ndata 0\n"),
    ("x", ""),
)
"""Files that move, change their kind and stay, a submodule, and nothing new."""


@looped(1, 5_000_000)
def test_what_is_pushed_arrives_whole(size: int, tmp_path: Path) -> None:
    folder = tmp_path / str(size)
    folder.mkdir()
    mirror = folder / "mirror.git"
    ensure_mirror(mirror)
    text = random.Random(1).randbytes(size).hex()[:size]  # noqa: S311
    made = ""
    for number, (branch, change) in enumerate(CHANGES, 1):
        made += f"commit refs/heads/{branch}\nmark :{number}\n"
        made += f"committer a <a> {number} +0000\ndata 0\n"
        made += change.format(size=size, text=text) + "\n"
    git.run(["fast-import", "--quiet"], cwd=mirror, stdin=made.encode())
    listed = git.run(["rev-list", "--reverse", "refs/heads/x"], cwd=mirror)
    commits = listed.stdout.decode().split()
    assert len(commits) == 6
    with by_http(folder) as address:
        own, before = remote_at(address.url, mirror, address.token), None
        for commit in commits:  # git refuses one that leads to what is not there
            own.push([RefUpdate(X, commit, before)], atomic=True)
            before = commit
        own.push([RefUpdate(Y, commits[-1], None)], atomic=True)
        own.push([RefUpdate("refs/tags/v", commits[0], None)], atomic=True)

        git.run(["fsck", "--full", "--strict"], cwd=address.bare)


def test_only_a_server_of_this_machine_is_near_and_must_answer_as_git(
    tmp_path: Path,
) -> None:
    for url in ("https://127.0.0.1/x.git", "http://github.com/x.git", "file:///x.git"):
        assert type(remote_at(url, tmp_path, None)) is Remote

    ensure_mirror(tmp_path)
    with pytest.raises(BratError, match="did not answer"):
        remote_at("http://127.0.0.1:1/x.git", tmp_path, None).refs()
