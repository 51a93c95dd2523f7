"""PyGithub against the local forge."""

import sys
from pathlib import Path

from tests.clients.told import SEEN, told

SCRIPT = Path(__file__).with_name("pygithub_story.py")


async def test_it_sees_what_it_did(tmp_path: Path) -> None:
    assert await told(tmp_path, sys.executable, "-I", str(SCRIPT)) == SEEN
