"""What a task or a convoy changes, on the pages: real commits, and hostile ones."""

import stat
from pathlib import Path

from bot.dashboard.dashboard_source import (
    MOST_DIFF_LINES,
    MOST_FILES,
    Changes,
    changes_in,
)
from grite import git
from tests.dashboard.conftest import opens
from tests.world.rules import NAME, Rules, sha, spec

HOSTILE = '</pre><script>alert(1)</script>\x1b]0;owned\x07 "quoted"\n'


def committed(folder: Path, message: str) -> str:
    who = ("-c", "user.name=Pat", "-c", "user.email=pat@example.org")
    git.run(["add", "--all"], cwd=folder)
    git.run([*who, "commit", "--quiet", "--message", message], cwd=folder)
    return git.run(["rev-parse", "HEAD"], cwd=folder).stdout.decode().strip()


def repository(folder: Path) -> tuple[str, str]:
    git.run(["init", "--quiet", "--initial-branch=main", str(folder)])
    (folder / "old.py").write_text("".join(f"line {n}\n" for n in range(9)))
    (folder / "picture.png").write_bytes(b"\0before")
    (folder / "gone.txt").write_text("gone\n")
    base = committed(folder, "Begin")
    (folder / "old.py").rename(folder / "new.py")
    with (folder / "new.py").open("a") as file:
        file.write(HOSTILE)
    (folder / "picture.png").write_bytes(b"\0after")
    (folder / "gone.txt").unlink()
    (folder / "new.py").chmod(stat.S_IRWXU)
    return base, committed(folder, "Change")


async def test_a_tasks_and_a_convoys_page_show_what_they_change(tmp_path: Path) -> None:
    base, commit = repository(tmp_path)
    real = changes_in(tmp_path)
    rules = Rules().planned(spec(1), spec(2)).started(1).accepted(1, sha("c"), "new.py")
    rules.offered(1, sha("d"), sha("0")).landed_as(1, sha("d"))
    asked: list[tuple[str, str]] = []

    def changes(begin: str, end: str) -> Changes | None:
        asked.append((begin, end))
        return real(base, commit)

    async with opens(rules, changes=changes) as visit:
        task = await visit.text(f"/convoys/{NAME}/tasks/1")
        whole = await visit.text(f"/convoys/{NAME}/changes")
        none = await visit.text(f"/convoys/{NAME}/tasks/2")

    assert asked == [(sha("0"), sha("d")), (rules.convoy.base, sha("d"))]
    assert 'id="changes"' not in none
    for page in (task, whole):
        assert "3 files" in page
        assert "<code>old.py → new.py</code>" in page
        assert '"plus" data-at="10">+<i>&lt;/pre&gt;&lt;script&gt;alert(1)' in page
        assert '"minus" data-at="1">-<i>gone' in page
        assert "the file is binary" in page
        assert "<script>alert" not in page
        assert "\x1b" not in page


def test_much_is_cut_and_what_is_not_there_is_none(tmp_path: Path) -> None:
    base, commit = repository(tmp_path)
    for n in range(MOST_FILES + 9):
        (tmp_path / f"many-{n}.txt").write_text("a line\n" * 40)
    big = committed(tmp_path, "Much")

    found = changes_in(tmp_path)(commit, big)

    assert found is not None
    assert (found.count, len(found.files)) == (MOST_FILES + 9, MOST_FILES)
    assert sum(len(each.lines) for each in found.files) == MOST_DIFF_LINES
    assert changes_in(tmp_path)(base, sha("a")) is None
    assert changes_in(tmp_path)(f"{big}^", big) == found
