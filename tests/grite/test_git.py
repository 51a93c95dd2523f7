import os
from pathlib import Path

import psutil
import pytest

from grite import git
from grite.errors import BratError, GitFailed, Unavailable
from tests.world.cases import looped

SECRET = "ghs_0123456789abcdefghijklmnop"
HANG = """#!/bin/sh
exec 9>"$FIFO"
echo up >&9
sleep 1000 &
sleep 1000
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_git_sees_nothing_of_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = me\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)

    shown = git.run(["-c", "alias.surroundings=!env", "surroundings"]).stdout.decode()
    configured = git.run(["config", "user.name"], cwd=tmp_path, check=False)

    assert SECRET not in shown
    assert "GIT_DIR=/elsewhere" not in shown
    assert "HOME=/nonexistent\n" in shown
    assert configured.status == 1


@looped(
    ("exit 3", "git complain ended with status 3 and printed nothing"),
    (r"printf 'why\nhint: try\n\nhint: it\n' >&2; exit 1", "complain failed: why"),
    (
        r"printf 'error: RPC failed; HTTP 502\nfatal: early EOF\n' >&2; exit 128",
        "git complain failed: RPC failed; HTTP 502",
    ),
    (
        (
            r"printf '! [remote rejected] main (no)\n"
            r"error: failed to push some refs to x\n' >&2; exit 1"
        ),
        r"git complain failed: ! \[remote rejected\] main \(no\)",
    ),
    (
        (
            r"printf 'a@b: Permission denied (publickey).\nfatal: Could not read "
            r"from remote repository.\n\nPlease make sure you have the correct "
            r"access rights\nand the repository exists.\n' >&2; exit 128"
        ),
        r"git complain failed: a@b: Permission denied \(publickey\)",
    ),
    ("printf '%5000s' | tr ' ' x >&2; exit 3", "git complain failed: x{300}"),
)
def test_a_failure_is_one_sentence_with_its_reason(script: str, said: str) -> None:
    with pytest.raises(GitFailed, match=f"{said}$") as caught:
        git.run(["-c", f"alias.complain=!{script}", "complain"])
    assert script not in str(caught.value)
    assert script in " ".join(caught.value.argv)


def test_a_token_reaches_git_by_its_environment_alone_and_no_error_tells_it() -> None:
    env = git.authorization("t0ken")
    sent = git.run(["config", "http.extraHeader"], env=env)
    # The word x-access-token, a colon and the token, in base64.
    assert sent.stdout == b"Authorization: Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4=\n"

    leak = 'alias.leak=!echo "$GIT_CONFIG_VALUE_0" >&2; exit 3'
    with pytest.raises(GitFailed) as caught:
        git.run(["-c", leak, "leak", f"https://me:pass@host/ {SECRET}"], env=env)
    failed = caught.value
    shown = f"{failed} {failed.argv} {failed.stderr}"
    assert "***" in failed.stderr
    for secret in (SECRET, "pass", env["GIT_CONFIG_VALUE_0"]):
        assert secret not in shown


def test_at_the_deadline_git_and_all_it_started_are_gone(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program(tmp_path / "bin" / "git-remote-hang", HANG)
    path = os.pathsep.join([str(tmp_path / "bin"), *os.get_exec_path()])
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    os.set_blocking(reader, True)
    said, deadline_s = b"", 1
    with os.fdopen(reader, "rb", 0) as held:
        while said != b"up\n":  # each time it has longer to get so far
            with pytest.raises(Unavailable, match=f"longer than {deadline_s} s$"):
                git.run(
                    ["-c", "x.y=z", "ls-remote", "hang::there"],
                    env={"PATH": path, "FIFO": str(fifo)},
                    deadline_s=deadline_s,
                )
            # The end of the file comes when the last process that held it is gone.
            said, deadline_s = held.read(), 2 * deadline_s


def test_a_program_that_fled_from_the_group_does_not_hold_us_up(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    write = f"echo $$ > {noted}.new; mv {noted}.new {noted}"
    flee = f"alias.flee=!setsid sh -c '{write}; exec sleep 600' & sleep 1000"
    deadline_s = 0.5
    while not noted.exists():  # each time it has longer to flee
        with pytest.raises(Unavailable):
            git.run(["-c", flee, "flee"], deadline_s=deadline_s)
        deadline_s *= 2

    psutil.Process(int(noted.read_text())).kill()  # it was there all the time


def test_without_git_or_the_folder_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BratError, match="gone does not exist"):
        git.run(["version"], cwd=tmp_path / "gone")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("grite.trusted_programs.SYSTEM", ("/nonexistent",))
    with pytest.raises(BratError, match="cannot run git: git does not exist"):
        git.run(["version"])


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("git version 2.30.1 (Apple Git-130)", (2, 30, 1)),
        ("git version 2.37.GIT", (2, 37, 0)),
        ("hello", None),
    ],
)
def test_an_old_git_is_refused_with_what_to_do(
    said: str, version: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "git", f"#!/bin/sh\necho '{said}'\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    why = r"too old: install git 2\.38 or newer" if version else "'hello'"

    with pytest.raises(BratError, match=why):
        git.require_version()
    if version:
        assert git.version() == version


CONFIGURED = [
    ("submodule.recurse", "true"),
    ("push.recurseSubmodules", "on-demand"),
    ("push.recurseSubmodules", "check"),
    ("push.followTags", "true"),
    ("push.pushOption", "anything"),
    ("push.gpgSign", "true"),
    ("push.default", "nothing"),
    ("remote.pushDefault", "nowhere"),
    ("protocol.allow", "never"),
    ("core.hooksPath", "{hooks}"),
    ("core.fsmonitor", "{hooks}/pre-push"),
]


WHO = ("-c", "user.name=P", "-c", "user.email=p@example.com")
COMMIT = (*WHO, "commit", "--quiet", "--allow-empty", "-m", "Change")


def with_library(top: Path, library: Path) -> None:
    """Make a repository whose submodule has a commit that its remote lacks."""
    git.run(["init", "--quiet", "--bare", "-b", "main", str(library)])
    git.run(["init", "--quiet", "-b", "main", str(top)])
    git.run(["clone", "--quiet", str(library), "lib"], cwd=top)
    git.run(COMMIT, cwd=top / "lib")
    git.run(["push", "--quiet", "origin", "HEAD:main"], cwd=top / "lib")
    add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"]
    git.run([*add, str(library), "lib"], cwd=top)
    git.run(["submodule", "--quiet", "absorbgitdirs"], cwd=top)
    git.run(COMMIT, cwd=top)
    git.run(COMMIT, cwd=top / "lib")
    git.run(["add", "--all"], cwd=top)
    git.run([*WHO, "tag", "-a", "-m", "One", "v1"], cwd=top)


def test_nothing_that_a_person_has_configured_in_a_repository_is_acted_on(
    tmp_path: Path,
) -> None:
    """One tip is pushed, and fetched again; all else stays as it is."""
    library, other = tmp_path / "library.git", tmp_path / "other.git"
    top, hooks, noted = tmp_path / "top", tmp_path / "hooks", tmp_path / "noted"
    for name in ("pre-push", "reference-transaction"):
        program(hooks / name, f"#!/bin/sh\necho {name} >> {noted}\n")
    with_library(top, library)
    git.run(["init", "--quiet", "--bare", "-b", "main", str(other)])
    known = git.run(["rev-parse", "main"], cwd=library).stdout
    plain = (top / ".git/config").read_bytes()

    for number, (key, value) in enumerate(CONFIGURED):
        (top / ".git/config").write_bytes(plain)
        git.run(["config", key, value.format(hooks=hooks)], cwd=top)
        git.run(COMMIT, cwd=top)
        git.run(["push", "--quiet", str(other), f"HEAD:refs/heads/{number}"], cwd=top)
        git.run(["fetch", "--quiet", str(other), f"refs/heads/{number}"], cwd=top)
        git.run(["update-index", "--refresh", "-q"], cwd=top)

        there = git.run(["rev-parse", "main"], cwd=library).stdout
        assert there == known, f"{key}={value} pushed a submodule"
        assert not noted.exists(), f"{key}={value} ran {noted.read_text()}"
    refs = git.run(["for-each-ref", "--format=%(refname)"], cwd=other).stdout.split()
    assert len(refs) == len(CONFIGURED)
    assert not [ref for ref in refs if ref.startswith(b"refs/tags/")]
