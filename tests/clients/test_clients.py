"""GitHub's common clients against the local forge: each tells the same story."""

import sys
from pathlib import Path

import pytest

from tests.clients.told import SEEN, told
from tests.world.npm import installed

HERE = Path(__file__).parent

pytestmark = pytest.mark.layer("landing")


@pytest.mark.parametrize("client", ["githubkit", "pygithub"])
async def test_a_client_sees_what_it_did(tmp_path: Path, client: str) -> None:
    script = HERE / f"{client}_story.py"

    assert await told(tmp_path, sys.executable, "-I", str(script)) == SEEN


@pytest.mark.needs("node", "npm")
async def test_octokit_sees_what_it_did(node: str, tmp_path: Path) -> None:
    installed(HERE)

    assert await told(tmp_path, node, str(HERE / "octokit_story.mjs")) == SEEN
