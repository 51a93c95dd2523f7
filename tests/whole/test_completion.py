"""Somebody types brat's words in a real bash, and has them completed by Tab."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from tests.world.kept import Kept
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.rules import NAME, Rules, sha, spec
from tests.world.terminal import new_terminal

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]

SEEN_S = patient(30)
PROMPT = "ready> "


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    return Kept(tmp_path / "log.git", rules.landed(1, sha("a")))


@contextmanager
def bash(folder: Path) -> Iterator["pexpect.spawn[str]"]:
    terminal = new_terminal(folder / "person")
    env = terminal.environment() | {"TERM": "dumb", "PS1": PROMPT}
    shell = pexpect.spawn(
        "bash",
        ["--norc", "--noprofile", "-i"],
        cwd=str(folder),
        env=env,
        encoding="utf-8",
        dimensions=(50, 200),
        timeout=SEEN_S,
    )
    try:
        shell.expect_exact(PROMPT)
        shell.sendline("bind 'set enable-bracketed-paste off'")
        shell.expect_exact(PROMPT)
        shell.sendline('eval "$(brat completion bash)"')
        shell.expect_exact(PROMPT)
        yield shell
    finally:
        shell.close(force=True)


def tabbed(shell: "pexpect.spawn[str]", line: str) -> str:
    """Return what a line has become, once all that Tab adds to it stands there."""
    shell.send(f"{line}\t")
    shell.send("!end")
    shell.expect_exact("!end")
    shown = str(shell.before)
    shell.sendcontrol("u")
    return shown


def listed(shell: "pexpect.spawn[str]", line: str) -> set[str]:
    shell.sendline("")
    shell.expect_exact(f"\n{PROMPT}")
    shell.send(f"{line}\t\t")
    shell.expect_exact(f"\n{PROMPT}{line}")
    shown = str(shell.before).split("\n", 1)[1]
    shell.sendcontrol("u")
    return set(shown.split())


def test_words_options_and_names_from_the_log_are_completed(kept: Kept) -> None:
    log = kept.path
    with bash(log.parent) as shell:
        assert tabbed(shell, "brat conv").endswith("brat convoy ")
        assert tabbed(shell, "brat convoy app").endswith("brat convoy approve ")
        assert tabbed(shell, "brat status --wa").endswith("--watch ")
        assert tabbed(shell, f"brat status --convoy x --repo {log.parent}/lo").endswith(
            f"{log}/"
        )
        shell.sendline(f"cd {log}")
        shell.expect_exact(PROMPT)
        assert tabbed(shell, "brat convoy show f").endswith(f"show {NAME} ")
        assert tabbed(shell, "brat task show --convoy f").endswith(f"{NAME} ")
        assert listed(shell, "brat task retry ") == {"1", "2", "3"}
        assert tabbed(shell, "brat session show fix").endswith(f"{NAME}/1/1 ")
        assert listed(shell, "brat why ") == {"1", "2", "3", NAME}
        assert listed(shell, "brat completion ") == {"bash", "zsh", "fish"}


def asked(log: Path) -> subprocess.CompletedProcess[str]:
    """Ask as bash does when Tab is pressed behind `brat why`."""
    line = f"brat why --repo {log} "
    env = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()))}
    trace = (sys.executable, "-I", "-X", "importtime", "-m", "brat")
    return ran([*trace], env=env | {"_BRAT_COMPLETE": "bash_complete"}, check=True)


def test_the_rest_of_brat_is_not_loaded_for_it_and_a_fault_says_nothing(
    kept: Kept,
) -> None:
    loaded = asked(kept.path)

    assert loaded.stdout.split() == [f"plain,{each}" for each in ("1", "2", "3", NAME)]
    names = {line.rpartition("|")[2].strip() for line in loaded.stderr.splitlines()}
    assert "brat.repository.log_reader" in names
    slow = {"rich.table", "aiohttp", "httpx", "pydantic", "asyncio"}
    assert not names & slow

    cut_short = kept.path.with_name("broken.git")
    cut_short.mkdir()
    (cut_short / "HEAD").write_text("what is this")
    for log in (kept.path.with_name("nowhere"), cut_short):
        said = asked(log)
        assert said.stdout.strip() == "", log
        assert "Traceback" not in said.stderr


def test_every_shell_has_a_script(tmp_path: Path) -> None:
    terminal = new_terminal(tmp_path)

    assert terminal.done("brat completion zsh").startswith("#compdef brat\n")
    assert "--command brat " in terminal.done("brat completion fish")
    refused = terminal.type("brat completion tcsh")
    assert refused.status == 2
