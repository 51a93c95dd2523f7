"""Repositories for the log's tests: the local one, and one elsewhere."""

from pathlib import Path

import pygit2
import pytest

from grite.remote import Remote, ensure_mirror
from grite.wal import Log


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    path = tmp_path / "mirror.git"
    ensure_mirror(path)
    return path


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    path = tmp_path / "origin.git"
    ensure_mirror(path)
    return path


@pytest.fixture
def remote(origin: Path, mirror: Path) -> Remote:
    return Remote(origin.as_uri(), mirror)


@pytest.fixture
def log(mirror: Path) -> Log:
    return Log(mirror)


@pytest.fixture
def repo(mirror: Path) -> pygit2.Repository:
    return pygit2.Repository(str(mirror))
