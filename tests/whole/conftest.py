"""Runs of the whole system: each is made once, and looked at by many tests."""

import pytest

from tests.whole.demo import CHAOS_SEED, Story, play
from tests.world.waiting import Once


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Once:
    root = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # one folder for all of xdist's workers
        root = root.parent
    return Once(root)


@pytest.fixture(scope="session")
def demo(once: Once) -> Story:
    return once("demo", Story, play)


@pytest.fixture(scope="session")
def chaos(once: Once) -> Story:
    return once("chaos", Story, lambda folder: play(folder, chaos=CHAOS_SEED))
