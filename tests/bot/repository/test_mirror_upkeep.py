"""What anybody pushed and took back again does not stay in the mirror for ever."""

import os
import random
from pathlib import Path

import pytest

from bot.repository.mirror import collect_mirror, has_grown, on_disk
from grite import git
from tests.bot.history import History

JUNK = 3_000_000


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    """A mirror with one commit, and megabytes that no ref leads to any more."""
    monkeypatch.setattr("bot.repository.mirror.FLOOR_BYTES", 1_000_000)
    history = History(tmp_path / "mirror.git")
    kept = history.commit({"a.txt": b"1\n"})
    git.run(["update-ref", "refs/seen/heads/main", kept], cwd=history.path)
    litter(history, hours=2)
    return history


def litter(history: History, hours: int) -> None:
    noise = random.Random(hours)  # noqa: S311  the same each time
    told = git.run(
        ["hash-object", "-w", "--stdin"],
        cwd=history.path,
        stdin=noise.randbytes(JUNK),
    )
    name = told.stdout.decode().strip()
    file = history.path / "objects" / name[:2] / name[2:]
    then = file.stat().st_mtime - hours * 3_600
    os.utime(file, (then, then))


def test_what_nothing_leads_to_is_removed_and_the_rest_stays(mirror: History) -> None:
    before = on_disk(mirror.path)
    examined = mirror.commit({"b.txt": b"2\n"})
    git.run(["update-ref", "refs/intake/fix-1/2/1", examined], cwd=mirror.path)

    collect_mirror(mirror.path)

    assert git.run(["for-each-ref", "refs/intake/"], cwd=mirror.path).stdout == b""
    assert before > JUNK
    assert on_disk(mirror.path) < 1_000_000
    shown = git.run(["cat-file", "-p", "refs/seen/heads/main:a.txt"], cwd=mirror.path)
    assert shown.stdout == b"1\n"
    git.run(["fsck", "--strict", "--connectivity-only"], cwd=mirror.path)


def test_a_large_mirror_is_collected_once_and_again_when_it_has_doubled(
    mirror: History,
) -> None:
    litter(mirror, hours=0)
    collect_mirror(mirror.path)
    assert JUNK < on_disk(mirror.path) < 2 * JUNK, "what was just written stays"
    assert not has_grown(mirror.path)

    litter(mirror, hours=-1)
    litter(mirror, hours=-2)

    assert has_grown(mirror.path)


def test_a_mirror_that_cannot_be_collected_is_said_and_used(
    mirror: History, caplog: pytest.LogCaptureFixture
) -> None:
    (mirror.path / "refs/seen/broken").write_text("a1" * 20 + "\n")

    collect_mirror(mirror.path)

    assert "git gc failed in" in caplog.text
    assert on_disk(mirror.path) > JUNK
