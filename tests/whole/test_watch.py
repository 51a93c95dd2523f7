"""`brat status --watch` at a terminal: somebody types, and sees what it shows."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from convoy.events.people_events import ConvoyPaused
from convoy.rules.people import BlockTask
from tests.world.kept import Kept
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.rules import NAME, Rules, sha, spec
from tests.world.terminal import BRAT, new_terminal

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]

SEEN_S = patient(30)
PROMPT = "$ "
SIZE = (24, 100)
BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
FRAME = re.compile(r"\x1b\[\?2026h\x1b\[H.*?\x1b\[J\x1b\[\?2026l", re.DOTALL)
AROUND = re.compile(r"\x1b\[\?(1049|25|7)[hl]")


@dataclass
class Watched:
    """A shell at a terminal, all that came out of it, and what is to be seen."""

    shell: "pexpect.spawn[str]"
    screen: Any
    stream: Any
    out: str = ""

    def see(self, fits: Callable[[str], bool]) -> str:
        """Wait until what is to be seen fits, in a whole frame; return it."""
        until = time.monotonic() + SEEN_S
        while not (self.is_whole and fits(self.text)):
            assert time.monotonic() < until, self.text
            try:
                more = self.shell.read_nonblocking(65_536, timeout=1)
            except pexpect.TIMEOUT:
                continue
            self.out += more
            self.stream.feed(more)
        return self.text

    @property
    def is_whole(self) -> bool:
        """Whether all that was sent of the last frame has come."""
        return self.out.count(BEGIN) == self.out.count(END)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def between(self) -> str:
        """What was sent while it watched, but for the frames themselves."""
        watched = self.out.partition("\x1b[?1049h")[2].partition("\x1b[?1049l")[0]
        return AROUND.sub("", FRAME.sub("", watched))

    @property
    def modes(self) -> str:
        """How the terminal takes keys."""
        before = len(self.out)
        self.shell.sendline("stty -g")
        self.see(lambda _: self.out[before:].endswith(f"\n{PROMPT}"))
        return self.out[before:].splitlines()[-2]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    return Kept(tmp_path / "log.git", rules)


@contextmanager
def watched(kept: Kept) -> Iterator[Watched]:
    terminal = new_terminal(kept.path.parent)
    env = terminal.environment() | {"TERM": "xterm-256color", "PS1": PROMPT}
    shell = pexpect.spawn(
        "sh",
        ["-i"],
        cwd=str(terminal.cwd),
        env=env,
        dimensions=SIZE,
        encoding="utf-8",
        timeout=SEEN_S,
    )
    screen = pyte.Screen(SIZE[1], SIZE[0])
    seen = Watched(shell, screen, pyte.Stream(screen))
    try:
        seen.see(lambda text: text.endswith("$"))
        yield seen
    finally:
        shell.close(force=True)


def begin(seen: Watched, kept: Kept) -> str:
    seen.shell.sendline(f"{BRAT} status --watch --repo {kept.path}")
    return seen.see(lambda text: "q quits" in text)


def test_news_come_by_themselves_on_one_screen_without_a_flicker(kept: Kept) -> None:
    with watched(kept) as seen:
        first = begin(seen, kept)
        kept.rules.do(BlockTask(convoy=NAME, task=3, why="no CI here"))
        kept.tell()
        later = seen.see(lambda text: "no CI here" in text)
        kept.rules.started(1)
        kept.tell()
        last = seen.see(lambda text: "running agent: fix-7/1/1" in text)

    assert f"{NAME}: active" in first
    assert "waits for you:" in later
    assert "brat retry 3" in later
    assert len(last.splitlines()) <= SIZE[0]
    assert last.endswith("q quits")
    # Each picture came whole, and none began with an empty screen.
    assert seen.between == ""
    assert "\x1b[2J" not in seen.out
    assert all(one != then for one, then in pairwise(FRAME.findall(seen.out)))


def test_agents_at_work_are_watched(kept: Kept) -> None:
    with watched(kept) as seen:
        seen.shell.sendline(f"{BRAT} session list --watch --repo {kept.path}")
        nobody = seen.see(lambda text: "q quits" in text)
        kept.rules.started(1)
        kept.tell()
        one = seen.see(lambda text: "fix-7/1/1" in text)

    assert "fix-7" not in nobody
    assert re.search(r"fix-7/1/1 +default +.* Task 1", one)


def of_forty(tmp_path: Path, *blocked: int) -> Kept:
    rules = Rules().planned(*(spec(number) for number in range(1, 41)))
    for number in blocked:
        rules.do(BlockTask(convoy=NAME, task=number, why=f"no CI for {number}"))
    return Kept(tmp_path / "log.git", rules)


@pytest.mark.layer("deep")
def test_what_waits_stays_on_top_while_the_rest_scrolls(tmp_path: Path) -> None:
    kept = of_forty(tmp_path, 40)
    with watched(kept) as seen:
        top = begin(seen, kept)
        seen.shell.send("\x1b[6~")  # Page Down
        middle = seen.see(lambda text: "Task 20" in text)
        seen.shell.send("G")
        end = seen.see(lambda text: "40 Task 40" in text)
        seen.shell.send("gk")
        again = seen.see(lambda text: "1 Task 1 " in text)

    waits = top.splitlines()[:4]
    assert waits[0] == "waits for you:"
    assert "no CI for 40" in waits[1]
    assert waits[2].startswith("    brat retry 40 --repo ")
    assert "lines 1 to 19 of " in top
    assert "1 Task 1 " not in middle
    assert again == top
    for text in (top, middle, end):
        assert text.splitlines()[:4] == waits
        assert len(text.splitlines()) <= SIZE[0]


@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "ctrl-c"])
def test_it_leaves_the_terminal_as_it_was(kept: Kept, key: str) -> None:
    with watched(kept) as seen:
        before = seen.modes
        begin(seen, kept)
        kept.rules.do(ConvoyPaused(convoy=NAME, by="ann"))
        kept.tell()
        seen.see(lambda text: "paused" in text)
        seen.shell.send(key)
        seen.see(lambda _: seen.out.partition("\x1b[?1049l")[2].endswith(PROMPT))
        after = seen.modes

    entered, left = seen.out.rindex("\x1b[?1049h"), seen.out.rindex("\x1b[?1049l")
    rest = seen.out[entered:]
    assert before == after
    assert entered < left
    assert rest.rindex("\x1b[?25h") > rest.rindex("\x1b[?25l")
    assert rest.rindex("\x1b[?7h") > rest.rindex("\x1b[?7l")


# --- brat's words in a real bash, and Tab ---------------------------------------------


READY = "ready> "


@contextmanager
def bash(folder: Path) -> Iterator["pexpect.spawn[str]"]:
    terminal = new_terminal(folder / "person")
    env = terminal.environment() | {"TERM": "dumb", "PS1": READY}
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
        shell.expect_exact(READY)
        shell.sendline("bind 'set enable-bracketed-paste off'")
        shell.expect_exact(READY)
        shell.sendline('eval "$(brat completion bash)"')
        shell.expect_exact(READY)
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
    shell.expect_exact(f"\n{READY}")
    shell.send(f"{line}\t\t")
    shell.expect_exact(f"\n{READY}{line}")
    shown = str(shell.before).split("\n", 1)[1]
    shell.sendcontrol("u")
    return set(shown.split())


def test_words_options_and_names_from_the_log_are_completed(kept: Kept) -> None:
    kept.rules.landed(1, sha("a"))
    kept.tell()
    log = kept.path
    with bash(log.parent) as shell:
        assert tabbed(shell, "brat conv").endswith("brat convoy ")
        assert tabbed(shell, "brat convoy app").endswith("brat convoy approve ")
        assert tabbed(shell, "brat status --wa").endswith("--watch ")
        assert tabbed(shell, f"brat status --convoy x --repo {log.parent}/lo").endswith(
            f"{log}/"
        )
        shell.sendline(f"cd {log}")
        shell.expect_exact(READY)
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
