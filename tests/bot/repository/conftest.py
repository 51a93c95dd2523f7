"""Remotes that a mirror can have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.repository.compose import Composer
from tests.bot.history import History
from tests.world.remotes import Address, by_file, by_http


@pytest.fixture(params=["file", "http"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Address]:
    """A remote in a folder, then one behind HTTP that wants a token."""
    if request.param == "file":
        yield by_file(tmp_path)
        return
    with by_http(tmp_path / "served") as served:
        yield served


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "mirror.git")


@pytest.fixture
def composer(history: History) -> Composer:
    return Composer(history.path)
