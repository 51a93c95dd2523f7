"""@octokit/rest against the local forge."""

from pathlib import Path

import pytest

from tests.clients.told import SEEN, told
from tests.world.npm import installed

SCRIPT = Path(__file__).with_name("octokit_story.mjs")

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.layer("landing")]


async def test_it_sees_what_it_did(node: str, tmp_path: Path) -> None:
    installed(SCRIPT.parent)

    assert await told(tmp_path, node, str(SCRIPT)) == SEEN
