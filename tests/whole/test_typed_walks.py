"""Any mix of what people type and do, with kills and refusals, ends with all landed.

A few seeds here; `make deep` goes more ways, each longer.
"""

from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import settings

from tests.whole.typed_walk import Walk, copied, prepared
from tests.world.dying import deadly
from tests.world.terminal import Terminal, left_running

DEEP: Final = settings.get_current_profile_name() == "deep"
SEEDS: Final = range(40) if DEEP else range(3)
LENGTH: Final = 20 if DEEP else 8

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return deadly(prepared(tmp_path_factory.mktemp("prepared")))


@pytest.mark.parametrize("seed", SEEDS)
def test_any_mix_of_commands_ends_with_everything_landed(
    repository: Terminal, seed: int, tmp_path: Path
) -> None:
    walk = Walk(copied(repository, tmp_path), random=Random(seed))  # noqa: S311  made up, and the same each time
    walk.walk(LENGTH)
    walk.come_to_an_end()

    assert walk.terminal.type("brat status").status == 0
    assert "Traceback" not in walk.output
    assert left_running(tmp_path) == []
