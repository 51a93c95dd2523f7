"""Plugin: after each test no secret stands in what was logged, or in the event log.

Looked through are the captured log and stderr, what processes wrote that the test
started, the files `*.log` in its folder, and every commit of the logs there. What tests
share a folder for is looked through when the worker ends.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pygit2
import pytest

from tests.world import given_secrets

LOG_REFS: Final = "refs/grite/"
_UNREAD: Final = frozenset({"objects", "hooks", "node_modules", "site-packages"})
_REPOSITORY: Final = frozenset({"HEAD", "objects", "refs"})
_SWEPT: Final = pytest.StashKey[set[Path]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no folder looked through."""
    config.stash[_SWEPT] = set()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget what another module's tests handed out."""
    given_secrets.begin(str(item.path))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail that left a secret where it can be read."""
    report = yield
    if report.when != "teardown":
        return report
    places = {
        "the log": report.caplog,
        "stderr": report.capstderr,
        "a process's stderr": "\n".join(given_secrets.take_written()),
    }
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    told = swept(folder) if isinstance(folder, Path) else []
    if isinstance(folder, Path):
        item.config.stash[_SWEPT].add(folder)
    told += [
        f"{place}: {', '.join(sorted(found))}"
        for place, text in places.items()
        if (found := given_secrets.leaks(text.encode(errors="replace")))
    ]
    if told and not report.failed:
        report.outcome = "failed"
        report.longrepr = "\n".join(["a secret was left in", *told])
    return report


@pytest.fixture(scope="session", autouse=True)
def _shared_folders_hold_no_secret(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[None]:
    """Look through what tests share, when all are done."""
    yield
    swept_already = pytestconfig.stash[_SWEPT]
    told = [
        line
        for folder in tmp_path_factory.getbasetemp().iterdir()
        if folder.is_dir() and not folder.is_symlink() and folder not in swept_already
        for line in swept(folder)
    ]
    if told:
        pytest.fail("\n".join(["a secret was left in", *told]), pytrace=False)


def swept(folder: Path) -> list[str]:
    """Return the files and commits below a folder that hold a secret, and which."""
    logs: list[Path] = []
    repositories: list[Path] = []
    for top, folders, files in os.walk(folder):
        here = Path(top)
        if {*folders, *files} >= _REPOSITORY:
            repositories.append(here)
        folders[:] = [name for name in folders if name not in _UNREAD]
        for name in files:
            if name.endswith(".log"):
                logs.append(here / name)
            elif given_secrets.tells(name):
                given_secrets.given_by(
                    name, _read(here / name).decode(errors="replace")
                )
    seen: set[pygit2.Oid] = set()
    data = [(str(file), _read(file)) for file in logs]
    data += [(f"the log in {one}", _commits(one, seen)) for one in repositories]
    return [
        f"{place}: {', '.join(sorted(found))}"
        for place, text in data
        if (found := given_secrets.leaks(text))
    ]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:  # a test took the right to read it
        return b""


def _commits(folder: Path, seen: set[pygit2.Oid]) -> bytes:
    """Return what the commits of a repository's event log say, each once."""
    found: list[bytes] = []
    with suppress(pygit2.GitError, KeyError):  # a test broke it
        repository = pygit2.Repository(str(folder))
        heads = [
            repository.references[name].target
            for name in repository.references
            if name.startswith(LOG_REFS)
        ]
        found.extend(_texts(repository, heads, seen))
    return b"\n".join(found)


def _texts(
    repository: pygit2.Repository, heads: Sequence[object], seen: set[pygit2.Oid]
) -> Iterator[bytes]:
    left = [head for head in heads if isinstance(head, pygit2.Oid)]
    while left:
        oid = left.pop()
        if oid in seen or oid not in repository:
            continue
        seen.add(oid)
        one: object = repository[oid]
        if isinstance(one, pygit2.Commit):
            yield one.raw_message
            left += [one.tree_id, *one.parent_ids]
        elif isinstance(one, pygit2.Tree):
            left += [entry.id for entry in one]
        elif isinstance(one, pygit2.Blob):
            yield one.data
