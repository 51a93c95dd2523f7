"""Which parallel tasks may collide, from a repository's own history."""

from pathlib import Path

from bot.repository.commits import foreseen_collisions
from tests.bot.history import History
from tests.world.rules import spec

LOG = "CHANGES.md"


def logged(folder: Path) -> tuple[Path, str]:
    """Return a repository whose every change also adds to one file's top."""
    history = History(folder / "project.git")
    files = {LOG: b"", "src/a.py": b"0\n", "src/b.py": b"0\n", "docs/c.md": b"0\n"}
    tip = history.commit(files)
    for number in range(1, 25):
        files["src/a.py" if number % 2 else "src/b.py"] = b"%d\n" % number
        files[LOG] = b"Change %d\n" % number + files[LOG]
        tip = history.commit(files, tip)
    return history.path, tip


def test_tasks_meet_where_all_changes_did(tmp_path: Path) -> None:
    tasks = (
        spec(1, paths=("src/a.py",)),
        spec(2, paths=("src/b.py",)),
        spec(3, paths=("docs/c.md",)),
        spec(4),
    )
    found, *_ = foreseen_collisions(*logged(tmp_path), tasks)

    assert (found.one, found.other, found.files[0]) == (1, 2, LOG)
    assert 0.1 < found.chance < 0.5


def test_tasks_in_order_do_not_collide(tmp_path: Path) -> None:
    tasks = (
        spec(1, paths=("src/a.py",)),
        spec(2, after=(1,)),
        spec(3, paths=("src/b.py",), after=(2,)),
    )

    assert foreseen_collisions(*logged(tmp_path), tasks) == ()


def test_a_plan_of_one_task_needs_no_look(tmp_path: Path) -> None:
    assert (
        foreseen_collisions(tmp_path / "nowhere", "0" * 40, [spec(1, paths=("a.py",))])
        == ()
    )
