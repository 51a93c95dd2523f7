"""PyGithub against the local forge."""

import sys
from pathlib import Path

import pytest

from tests.clients.told import SEEN, told

pytestmark = pytest.mark.layer("landing")

SCRIPT = Path(__file__).with_name("pygithub_story.py")


async def test_it_sees_what_it_did(tmp_path: Path) -> None:
    assert await told(tmp_path, sys.executable, "-I", str(SCRIPT)) == SEEN
