from pathlib import Path

import pytest

from tests.runner.job import Forge


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)
