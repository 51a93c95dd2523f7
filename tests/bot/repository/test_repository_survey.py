"""What the bot reads of a repository before it lets an engine plan."""

from pathlib import Path

from bot.repository.commits import Commits
from grite import git


def committed(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git.run(["add", "-A"], cwd=folder)
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    git.run([*who, "commit", "-q", "-m", "Work"], cwd=folder)
    return git.run(["rev-parse", "HEAD"], cwd=folder).stdout.decode().strip()


def test_a_repository_is_read_and_not_run(tmp_path: Path) -> None:
    git.run(["init", "-q"], cwd=tmp_path)
    commit = ""
    for turn in range(3):
        files = {
            "api/views.py": f"from store import rows\n# {turn}\n",
            "store.py": f"rows = {turn}\n",
            "docs/a b\u00e9.md": "All of it.\n",
            "Makefile": "test:\n\tfalse\n",
            "go.mod": "module ex.org/shop\n",
            ".github/CODEOWNERS": "* @ann\n",
        }
        commit = committed(tmp_path, files)
    found = Commits(tmp_path).surveyed(commit)

    assert found.files == 6
    assert found.tests == ("make test", "go test ./...")
    assert found.owners == "* @ann\n"
    assert set(found.busy[:2]) == {"api/views.py", "store.py"}
    assert found.together == (("api/views.py", "store.py", 3),)
    assert found.used == (("store.py", 1),)
    assert found.uses == (("api/", "./", 1),)
