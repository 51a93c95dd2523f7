"""What the bot reads of a repository before it lets an engine plan."""

from bot.repository.commits import Commits
from tests.bot.history import History


def test_a_repository_is_read_and_not_run(history: History) -> None:
    commits: list[str] = []
    for turn in range(3):
        files = {
            "api/views.py": f"from store import rows\n# {turn}\n".encode(),
            "store.py": f"rows = {turn}\n".encode(),
            "docs/a b\u00e9.md": b"All of it.\n",
            "Makefile": b"test:\n\tfalse\n",
            "go.mod": b"module ex.org/shop\n",
            ".github/CODEOWNERS": b"* @ann\n",
        }
        commits.append(history.commit(files, *commits[-1:]))
    found = Commits(history.path).surveyed(commits[-1])

    assert found.files == 6
    assert found.tests == ("make test", "go test ./...")
    assert found.owners == "* @ann\n"
    assert set(found.busy[:2]) == {"api/views.py", "store.py"}
    assert found.together == (("api/views.py", "store.py", 3),)
    assert found.used == (("store.py", 1),)
    assert found.uses == (("api/", "./", 1),)
