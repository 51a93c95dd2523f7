"""Who had a bot's folder before, and is dead."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.settings import bot_folder
from bot.settings.bot_folder import PROCESSES_FILE, PROCESSES_KEPT, held_folder

HOLD = """
import sys
from importlib import import_module
from pathlib import Path
held = getattr(import_module(sys.argv[2]), sys.argv[3])
with held(Path(sys.argv[1]), "theirs") as dead:
    print(sorted(dead), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> "subprocess.Popen[str]":
    """A process that has the folder."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLD,
            str(tmp_path),
            held_folder.__module__,
            held_folder.__name__,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "[]\n"
    return process


def test_a_killed_process_is_known_to_be_dead_and_a_live_one_is_not(
    tmp_path: Path, holder: "subprocess.Popen[str]"
) -> None:
    with holder:
        with held_folder(tmp_path, "ours") as while_it_lives:
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with held_folder(tmp_path, "ours") as after:
        pass

    assert not while_it_lives
    assert after == {"theirs"}


def test_some_are_remembered(tmp_path: Path) -> None:
    last: frozenset[str] = frozenset()
    for number in range(2 * PROCESSES_KEPT):
        with held_folder(tmp_path, str(number)) as dead:
            last = dead

    assert last == {
        str(number) for number in range(PROCESSES_KEPT - 1, 2 * PROCESSES_KEPT - 1)
    }


def test_a_copy_of_the_folder_says_nothing(tmp_path: Path) -> None:
    first, copy = tmp_path / "first", tmp_path / "copy"
    first.mkdir()
    with held_folder(first, "one"):
        shutil.copytree(first, copy)

    with held_folder(copy, "two") as dead:
        assert not dead


def test_another_start_of_the_system_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_folder(tmp_path, "one"):
        pass
    boot = tmp_path / "boot_id"
    boot.write_text("another")
    monkeypatch.setattr(bot_folder, "_BOOT", boot)

    with held_folder(tmp_path, "two") as dead:
        assert not dead


@pytest.mark.parametrize("text", ["", "\n\n", "x\ny"])
def test_a_file_that_was_cut_off_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / PROCESSES_FILE).write_text(text)

    with held_folder(tmp_path, "one") as dead:
        assert not dead
