"""`brat log`, `lock`, `doctor`, `uninstall`, typed in a repository and in its clone."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brat.doctor import debug_bundle
from brat.doctor.debug_bundle import TAIL_BYTES
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from convoy.model.state import Lease
from tests.world.given_secrets import given
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, cloned, engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


def planned(folder: Path) -> Terminal:
    terminal = project(folder, engine("echo hi > hi.txt"))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Say hi'")
    return terminal


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = planned(tmp_path_factory.mktemp("log"))
    yield terminal
    assert left_running(terminal.cwd.parent) == []


@pytest.mark.layer("deep")
def test_the_log_is_told_line_by_line(terminal: Terminal) -> None:
    lines = terminal.done("brat log show -n 100").splitlines()

    assert any(line.endswith("Planned 1 task (task list).") for line in lines)
    assert terminal.done("brat log tail -n 1").splitlines() == lines[-1:]
    assert terminal.done("brat log show -n 0") == ""


def test_the_log_is_exported_whole(terminal: Terminal) -> None:
    document = json.loads(terminal.done("brat log export --format json"))
    page = terminal.done("brat log export --format md")

    types = [event["brat"]["type"] for event in document["events"] if "brat" in event]
    assert types[:3] == ["bot.started", "convoy.requested", "action.intended"]
    assert document["meta"]["event_count"] == len(document["events"])
    assert document["faults"] == []
    assert "Planned 1 task (" in page


@pytest.mark.layer("deep")
def test_a_clone_reads_the_log_once_it_has_fetched_it(terminal: Terminal) -> None:
    clone = cloned(terminal)
    lacking = clone.type("brat log show")
    assert lacking.status == 1
    assert "git fetch origin 'refs/grite/*:refs/grite/*'" in lacking.err

    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")

    assert clone.done("brat log show") == terminal.done("brat log show")
    lock = clone.type("brat lock acquire path:src/ --ttl 900")
    assert lock.status == 1
    assert lock.lines[-1].endswith("issues: /brat lock path:src/ ttl=900s")


def test_a_lock_is_taken_shown_renewed_and_given_up(terminal: Terminal) -> None:
    def held() -> list[Lease]:
        return [*Reader(terminal.cwd / BARE).read().leases.values()]

    assert terminal.type("brat lock acquire path:src/").status == 0
    assert terminal.type("brat lock acquire path:src/a.py").status == 1
    assert "path:src/" in terminal.done("brat lock status")
    (before,) = held()

    terminal.done("brat lock renew path:src/ --ttl 900")

    (after,) = held()
    assert (after.nonce, after.holder) == (before.nonce, before.holder)
    assert after.expires > before.expires
    locks = f"git -C {BARE} for-each-ref refs/grite/locks"
    assert len(terminal.done(locks).split()) > 2

    terminal.done("brat lock release path:src/")
    assert terminal.type("brat lock release path:src/").status == 1
    assert held() == []
    assert terminal.done(locks) == ""


def test_the_doctor_names_what_is_wrong(terminal: Terminal, tmp_path: Path) -> None:
    well = terminal.type("brat doctor")
    fresh = project(tmp_path, engine("true"))
    new = fresh.type("brat doctor")
    fresh.write({".brat/config.toml": "[refinery]\nstrateg = 'squash'\n"})
    wrong = fresh.type("brat doctor")

    assert well.status == 0, well.err
    assert all(line.startswith("  ok") for line in well.lines)
    assert new.status == 0, new.err
    assert new.lines[-1] == "  note  brat has not run here yet -> brat run 'WHAT TO DO'"
    assert (wrong.status, "strateg" in wrong.err) == (1, True)


def test_a_log_whose_key_is_gone_is_taken_over_by_a_person(terminal: Terminal) -> None:
    """So are logs from before they were signed: no commit of theirs counts."""
    for file in (terminal.cwd / ".git/brat/bot").glob("log_key*"):
        file.unlink()
    head = terminal.done(f"git -C {BARE} rev-parse refs/grite/wal").strip()

    refused = terminal.type("brat lock acquire port:5432")
    assert refused.status == 1
    assert f"brat log adopt {head}" in refused.err
    assert terminal.done(f"git -C {BARE} rev-parse refs/grite/wal").strip() == head
    wrong = terminal.type(f"brat log adopt {'1' * 40}")
    assert wrong.status == 1

    adopted = terminal.type(f"brat log adopt {head}")
    assert adopted.err == f"the log is now trusted up to {head}\n"

    assert terminal.type("brat lock acquire port:5432").status == 0


# --- `brat uninstall`: nothing goes without a yes, and then all of it, and only that --


def test_a_remote_loses_the_log_and_keeps_the_work(terminal: Terminal) -> None:
    silent = terminal.type("brat uninstall --remote nowhere --yes")
    assert (silent.status, "nowhere" in silent.err) == (1, True)
    assert terminal.type("brat status").status == 0
    far = terminal.cwd.parent / "far.git"
    terminal.done(f"git clone -q --mirror {terminal.cwd / BARE} {far}")
    clone = Terminal(terminal.cwd.parent / "of-far", terminal.home)
    terminal.done(f"git clone -q {far} {clone.cwd}")
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    before = clone.done("git ls-remote --refs origin refs/heads/*")

    said = clone.type("brat uninstall --remote origin --yes")

    assert said.status == 0, said.err
    assert "refs/grite/wal on origin" in said.err
    assert clone.done("git ls-remote --refs origin refs/grite/*") == ""
    assert clone.done("git for-each-ref refs/grite") == ""
    assert clone.done("git ls-remote --refs origin refs/heads/*") == before


def test_a_local_forge_goes_only_with_a_yes(tmp_path: Path) -> None:
    terminal = planned(tmp_path)
    asked = terminal.type("brat uninstall")
    assert asked.status == 1
    assert asked.lines[0] == "this will be permanently removed:"
    assert "nothing was removed" in asked.err
    assert terminal.type("brat status").status == 0

    terminal.done("brat uninstall --yes")

    assert not (terminal.cwd / ".git/brat").exists()
    assert "there is nothing to remove" in terminal.type("brat uninstall").err
    assert terminal.done("git status --short") == ""


# --- `brat doctor --engines`: what would stop one is said before it is paid for -------


ENGINES = """\
[engine.default]
type = "claude-code"
secret = "TEAM_KEY"

[engine.tests]
type = "continue"

[engine.docs]
type = "plugin:abacus"

[engine.own]
type = "shell"
args = ["no-such-program"]
"""
LOOK = "brat doctor --engines"


def of(engine: str, lines: list[str]) -> list[str]:
    return [one for one in lines if f"[engine.{engine}]" in one]


def test_each_engine_is_looked_at(tmp_path: Path) -> None:
    terminal = project(tmp_path, ENGINES)
    terminal.install("claude", "echo 2.1.0 '(a stand-in)'")

    lines = terminal.type(LOOK).lines

    program, key = of("default", lines)
    assert program.endswith(
        "ok    [engine.default] claude-code: claude 2.1.0 (a stand-in)"
    )
    assert "FAULT [engine.default] claude-code: The engine claude-code needs" in key
    assert "in the variable TEAM_KEY, which is not set" in key
    (tests,) = of("tests", lines)
    assert "FAULT [engine.tests] continue: The engine continue needs a model" in tests
    (docs,) = of("docs", lines)
    assert "There is no engine 'plugin:abacus'; available: " in docs
    (own,) = of("own", lines)
    assert "the program no-such-program was not found -> install it" in own

    terminal.install("claude", "env")
    said = terminal.type(f"env TEAM_KEY=made-up-0123456789 {LOOK}").lines
    program, key = of("default", said)

    assert key.endswith("[engine.default] claude-code: the key is set")
    assert "made-up" not in program + key, "a key is not shown"


# --- `brat doctor --bundle`: what a helper needs to see, and no secret in it ----------


TOKEN = given("hunter2hunter2-of-the-team")


def bundled(terminal: Terminal, folder: Path) -> dict[str, str]:
    file = folder / "bundle.tar.gz"
    terminal.type(f"env TEAM_TOKEN={TOKEN} brat doctor --bundle {file}")
    return held(file)


def held(file: Path) -> dict[str, str]:
    with tarfile.open(file) as bundle:
        return {
            Path(one.name).name: opened.read().decode()
            for one in bundle.getmembers()
            if (opened := bundle.extractfile(one)) is not None
        }


def test_it_holds_what_tells_of_a_fault_and_no_secret(tmp_path: Path) -> None:
    terminal = project(tmp_path, '[engine.default]\ntype = "shell"\nargs = ["false"]\n')
    terminal.type("brat init")
    folder = terminal.cwd / ".git" / "brat"
    known = registrations.read(folder)
    secrets = (known.person_token, known.bot_token, known.secret, TOKEN)
    (folder / "daemon.log").write_text(f"sent {' '.join(secrets)}, then stopped\n")

    found = bundled(terminal, tmp_path)
    (folder / "daemon.log").unlink()

    assert found["daemon.log"] == "sent *** *** *** ***, then stopped\n"
    assert found["about.txt"].startswith("brat: ")
    assert "ok: the configuration is valid" in found["findings.txt"]
    assert 'args = ["false"]' in found["config.toml"]
    assert "refs/heads/main" in found["refs.txt"]
    assert '"schema_version"' in found.get("status.json", ""), found.get("unread.txt")
    assert "registration.json" in found["sizes.txt"]
    assert not [name for name, text in found.items() for one in secrets if one in text]
    assert (tmp_path / "bundle.tar.gz").stat().st_mode & 0o077 == 0


def test_no_secret_is_left_in_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = (
        (f"fetch https://pat:{TOKEN}@example.test/a.git", f"pat:{TOKEN}@"),
        ("fetch https://Qx81-of-nobody@example.test/a.git", "Qx81-of-nobody"),
        (f"key: {given('Ab3' * 12)}", "Ab3Ab3"),
        (f"hook {given('a-secret-inside')}", "a-secret-inside"),
        (f"{given('brat_7_' + 'x9' * 22)} is refused", "brat_7_x9"),
        ("it had ghp_0123456789abcdefghij0123456789", "ghp_0123"),
    )
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    terminal = project(tmp_path, "")
    folder = terminal.cwd / ".git" / "brat"
    folder.mkdir()
    (folder / "feed.key").write_text("Ab3" * 12 + "\n")
    told = {"repositories": [{"webhook_secret": "a-secret-inside"}]}
    (folder / "bot.json").write_text(json.dumps(told))
    log, file = folder / "daemon.log", tmp_path / "bundle.tar.gz"

    def written(text: str) -> dict[str, str]:
        log.write_text(text)
        debug_bundle.write_bundle(terminal.cwd, file, ())
        log.unlink()
        return held(file)

    found = written("".join(f"{said}\n" for said, _ in logged))

    lines = found["daemon.log"].splitlines()
    for line, (said, left) in zip(lines, logged, strict=True):
        assert "***" in line, said
        assert not [name for name, text in found.items() if left in text], said

    # one that the beginning of a log's end cuts
    rest = "it went on\n" * (TAIL_BYTES // 11)
    end = written(f"first\n{TOKEN}\n{rest[len(TOKEN) // 2 :]}")["daemon.log"]
    assert TOKEN[-9:] not in end
    assert end.endswith("it went on\n")
    assert len(end) <= TAIL_BYTES


def test_it_replaces_another_where_brat_was_never_set_up(tmp_path: Path) -> None:
    terminal = project(tmp_path, "")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "bundle.tar.gz").symlink_to(elsewhere)

    found = bundled(terminal, tmp_path)

    assert "about.txt" in found
    assert elsewhere.read_text() == "mine"
    assert [each.name for each in tmp_path.glob(".brat-*")] == []
    assert "run `brat init` first" in found["findings.txt"] + found["unread.txt"]
