"""`brat doctor --bundle`: what a helper needs to see, and no secret in it."""

import json
import tarfile
from pathlib import Path

import pytest

from brat.doctor import debug_bundle
from brat.doctor.debug_bundle import TAIL_BYTES
from brat.repository import registration as registrations
from tests.world.given_secrets import given
from tests.world.terminal import Terminal
from tests.world.words import project

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


@pytest.mark.layer("landing")
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
