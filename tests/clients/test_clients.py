"""GitHub's own client for JavaScript against the local forge: it sees what it did.

Its script is a process of its own: `SCRIPT API TOKEN`. It talks about an issue,
merges a pull request and runs a workflow in alice/app, and prints as JSON what it saw.
"""

import asyncio
import json
from pathlib import Path
from typing import Final

import pytest

from brat.forge.storage.forge_state import Forge
from tests.forge.running import hasty
from tests.world.forge import Json, Town, make_source, settle_in, town
from tests.world.npm import installed
from tests.world.patience import patient

HERE: Final = Path(__file__).parent
DEADLINE_S: Final = patient(60)
SEEN: Final = {
    "repository": ["alice/app", "main", False],
    "label": ["needs/review now", "0e8a16", True],
    "labels": ["bug", "needs/review now"],
    "labelled": [True],
    "unlabelled": ["bug"],
    "comments": ["Better.", "Done."],
    "reactions": ["eyes"],
    "issue": ["closed", "not_planned"],
    "base": "side",
    "checks": [["lint", "completed", "success"]],
    "status": ["success", "deploy"],
    "refused": 409,
    "merged": [True, True],
    "tip": True,
    "untouched": True,
    "started": True,
    "run": ["workflow_dispatch", "success"],
    "artifact": ["brat-result", True],
}


async def told(folder: Path, *script: str) -> Json:
    source = make_source(folder / "source")
    with Forge(folder / "forge") as forge:
        tokens = settle_in(forge, source)
        async with town(forge, tokens, folder, how=hasty("upload")) as here:
            await _branches(here)
            words = (f"{here.url}/api/v3", tokens["bot"])
            return json.loads(await _said(*script, *words))


async def _branches(here: Town) -> None:
    """Push `side`, which is where main is, and `topic`, a commit ahead."""
    checkout = await here.clone()
    await checkout.git("push", "--quiet", "origin", "HEAD:side")
    await checkout.git("switch", "--quiet", "-c", "topic")
    await checkout.commit("topic.txt", "topic")
    await checkout.git("push", "--quiet", "origin", "topic")


async def _said(*command: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE_S):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out


@pytest.mark.layer("landing")
@pytest.mark.needs("node", "npm")
async def test_octokit_sees_what_it_did(node: str, tmp_path: Path) -> None:
    installed(HERE)

    assert await told(tmp_path, node, str(HERE / "octokit_story.mjs")) == SEEN
