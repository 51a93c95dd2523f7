"""What the forge remembers: through a restart, through kill -9, and never by halves."""

import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from grite import git
from grite.errors import BratError, GitFailed
from tests.forge.running import client
from tests.world.cases import looped
from tests.world.forge import AUTHOR, REPO, make_source, settle_in
from tests.world.program import DEADLINE_S, ran, serving_program


def test_a_change_that_fails_leaves_nothing(forge: Forge, source: Path) -> None:
    alice = forge.add_user("alice")

    with pytest.raises(RuntimeError, match="midway"), forge.store.change():
        forge.add_user("bob")
        forge.store.users.put(replace(alice, kind="Bot"))
        forge.store.users.remove(alice)
        raise RuntimeError("midway")

    assert forge.store.users.all() == [alice]
    with pytest.raises(GitFailed):
        forge.add_repository("alice/app", source=source, branch="none")
    assert forge.repository("alice/app") is None
    forge.add_repository("alice/app", source=source)


def test_a_repository_is_a_copy_of_one_branch(tmp_path: Path, forge: Forge) -> None:
    source = make_source(tmp_path / "mine")
    git.run(["branch", "other"], cwd=source)
    forge.add_user("alice")

    repo = forge.add_repository("alice/app", source=source, branch="other")

    bare = forge.bare(repo)
    assert repo.default_branch == "other"
    assert list(bare.refs()) == ["refs/heads/other"]
    listed = git.run(["config", "--list", "--local"], cwd=bare.path).stdout.decode()
    assert str(source) not in listed
    assert git.run(["symbolic-ref", "HEAD"], cwd=bare.path).stdout == (
        b"refs/heads/other\n"
    )


Attempt = Callable[[Forge], object]


@looped(
    (lambda f: f.add_repository("bob/app"), "there is no account bob"),
    (lambda f: f.add_repository("alice/.."), "is not a repository name"),
    (lambda f: f.add_repository("alice/a b"), "is not a repository name"),
    (lambda f: f.add_repository("alice/app.git"), "is not a repository name"),
    (lambda f: f.add_repository("Alice/APP"), "already exists"),
    (lambda f: f.add_user("alice", kind="Bot"), "alice is a User, not a Bot"),
    (lambda f: f.add_token("bob"), "add it first"),
    (lambda f: f.grant("alice/app", "bob", "read"), "add it first"),
    (lambda f: f.grant("alice/none", "alice", "read"), "add it first"),
    (lambda f: f.set_ci("alice/none", Ci()), "add it first"),
    *(
        (lambda f, login=login: f.add_user(login), "is not a valid login")
        for login in ("", "-a", "a b", "a/b", "a" * 40, "x[bot")
    ),
)
def test_what_cannot_be_is_refused(attempt: Attempt, said: str, forge: Forge) -> None:
    forge.add_user("alice")
    if forge.repository("alice/app") is None:
        forge.add_repository("alice/app")

    with pytest.raises(BratError, match=said):
        attempt(forge)


def test_a_forge_that_is_killed_keeps_every_answer_it_gave(
    tmp_path: Path, source: Path
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        with pytest.raises(BratError, match="is in use"):  # one process at a time
            Forge(tmp_path / "forge")
    numbers = []
    with serving_program(tmp_path / "forge") as program:
        issues = f"{program.url}/api/v3/repos/{REPO}/issues"
        with client(tokens["bot"]) as http:
            for count in range(21):
                body = {"title": str(count), "labels": ["brat"]}
                numbers.append(http.post(issues, json=body).json()["number"])
        program.process.kill()

    with Forge(tmp_path / "forge") as forge:
        kept = forge.store.issues.all()
        assert [issue.number for issue in kept] == numbers
        assert all(len(issue.labels) == 1 for issue in kept)
        assert len(forge.store.issue_events.all()) == len(kept)


def test_a_push_that_the_forge_did_not_live_to_see_is_made_up_for(
    tmp_path: Path, source: Path
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        bare = forge.bare(forge.known(REPO)).path
    words = ["commit-tree", "main^{tree}", "-p", "main", "-m", "x"]
    commit = git.run(words, cwd=bare, env=AUTHOR).stdout.decode().strip()
    git.run(["update-ref", "refs/heads/work", commit], cwd=bare)
    with serving_program(tmp_path / "forge") as program:
        api = f"{program.url}/api/v3/repos/{REPO}"
        body = {"title": "x", "head": "work", "base": "main"}
        with client(tokens["bot"]) as http:
            assert http.post(f"{api}/pulls", json=body).status_code == 201
        program.process.kill()
    git.run(["update-ref", "refs/heads/main", commit], cwd=bare)

    with serving_program(tmp_path / "forge") as program:
        api = f"{program.url}/api/v3/repos/{REPO}"
        with client(tokens["bot"]) as http:
            pull = http.get(f"{api}/pulls/1").json()

    assert (pull["merged"], pull["merge_commit_sha"]) == (True, commit)


# --- a program: it says where it is, and never outlives its parent --------------------


@pytest.mark.layer("landing")
def test_it_listens_on_loopback_only_and_ends_on_sigterm(tmp_path: Path) -> None:
    with serving_program(tmp_path / "forge") as program:
        sockets = psutil.Process(program.process.pid).net_connections("inet")

        listens = {(one.laddr.ip, one.status) for one in sockets}
        assert listens == {("127.0.0.1", "LISTEN")}
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(DEADLINE_S) == 0


@pytest.mark.layer("landing")
def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        forge = (sys.executable, "-I", "-m", "brat.forge")
        ended = ran((*forge, "--dir", tmp_path / "forge", "--port", port))

    assert ended.returncode == 1
    assert "brat.forge: " in ended.stderr
    assert "in use" in ended.stderr


@pytest.mark.layer("landing")
def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    with serving_program(tmp_path / "forge") as program:
        assert program.close_input() == 0, "as when its parent is gone"


FORKED = """
import sys
from pathlib import Path
import httpx, psutil
from brat.local.forge_process import forge, forked_ahead
here, me = Path(sys.argv[1]), psutil.Process()
with forked_ahead():
    with forge(here / "forge", 0, log=here / "log") as (url, ours):
        assert me.children()[0].pid == ours.pid
        assert psutil.Process(ours.pid).cmdline() == me.cmdline()
        assert httpx.get(url, trust_env=False).status_code
    assert not me.children()
with forked_ahead():
    assert len(me.children()) == 1
assert not me.children()
"""


@pytest.mark.layer("landing")
def test_it_begins_in_a_fork_that_ends_where_nobody_needs_it(tmp_path: Path) -> None:
    ran((sys.executable, "-c", FORKED, tmp_path), check=True)
