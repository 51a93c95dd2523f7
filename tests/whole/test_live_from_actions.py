"""A job on a machine elsewhere shows its session live to the bot that dispatched it.

The whole way: bot and forge over HTTP, brat-task-live.yml's environment, a runner that
is alone as in a container, and an issuer on loopback in the place of GitHub's.
"""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from msgspec import json

from bot.serving.host import hosted
from bot.settings import bot_folder
from bot.settings.bot_settings import ServiceSettings
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from convoy.model.state import Convoy
from tests.world.adopted import asked_for, registered
from tests.world.alone import ALONE
from tests.world.issuer import ASKS, Vouching, vouching
from tests.world.patience import patient
from tests.world.tls import Behind, door_before
from tests.world.waiting import ended
from tests.world.words import engine, project

READER = "made-up-token-of-readers"
WORKFLOW = "brat-task-live.yml"
DEADLINE_S = patient(60)
CONFIG = """
[witness]
attempts = 1
[runner]
box = "off"  # the agent waits for a file beside its machine
"""
AGENT = """\
env
echo seen from afar
until [ -e {done} ]; do sleep 0.1; done
echo "said = 1" > words/said.py
"""


def adopted(folder: Path) -> Registration:
    agent = AGENT.format(done=shlex.quote(str(folder / "done")))
    terminal = project(folder, engine(agent, CONFIG))
    terminal.done("brat init --hosted")
    terminal.commit("Let brat work here", {})
    return registered(folder / "brat", terminal, "python -m pytest -q")


def starter(github: Vouching, bot: str) -> str:
    """Return what runs a job: the runner, alone, told what GitHub tells such jobs."""
    told = {
        "BRAT_FEED_URL": bot,
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{github.asks_url}&run=$GITHUB_RUN_ID",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": ASKS,
    }
    words = " ".join(f'{name}="{value}"' for name, value in told.items())
    runner = shlex.join((*ALONE, sys.executable, "-I", "-m", "runner"))
    return json.encode(["sh", "-c", f"export {words}; exec {runner}"]).decode()


async def claims(client: httpx.AsyncClient, name: str) -> dict[str, object]:
    """Return what the forge says of the jobs of a repository, but for their runs."""
    repository = (await client.get(f"repos/{name}")).json()
    file = f"{name}/.github/workflows/{WORKFLOW}@refs/heads/main"
    return {
        "repository": name,
        "repository_id": str(repository["id"]),
        "run_attempt": "1",
        "event_name": "workflow_dispatch",
        "workflow_ref": file,
        "job_workflow_ref": file,
    }


@asynccontextmanager
async def served(
    folder: Path, known: Registration, github: Vouching
) -> AsyncIterator[tuple[str, str]]:
    behind, log = Behind(), folder / "forge.log"
    async with door_before(behind) as port:
        bot = f"http://127.0.0.1:{port}"
        options = ("--executor", starter(github, bot), "--extend", "sessions")
        with forge_process.forge(
            folder / FORGE_FOLDER,
            0,
            *options,
            log=log,
            program="tests.world.github_forge",
        ) as (url, _):
            told = ServiceSettings(
                folder=folder / "bot",
                repositories=(known.repository,),
                api_url=f"{url}/api/v3",
                git_url=url,
                token=known.bot_token,
                secret=known.secret,
                port=0,
                workflow=WORKFLOW,
                feed_url=bot + "/",
                feed_issuer=github.url,
                feed_token=READER,
                log_key_file=folder / BOT_FOLDER / bot_folder.LOG_KEY_FILE,
                push_gap_s=0,
                sweep_s=1,
            )
            async with hosted(told, lambda _: None) as host:
                behind.port = host.port
                await local_mode.point_hook(url, known, host.port)
                yield url, bot


async def watched(folder: Path, known: Registration) -> tuple[Convoy, str, list[str]]:
    """Return a convoy at its end, what was seen of it live, and who was asked."""
    async with (
        vouching() as github,
        served(folder, known, github) as (url, bot),
        httpx.AsyncClient(
            base_url=f"{url}/api/v3/", trust_env=False, timeout=patient(20)
        ) as client,
        asyncio.timeout(DEADLINE_S),
    ):
        client.headers["Authorization"] = f"Bearer {known.person_token}"
        github.claims = await claims(client, known.repository)
        issue = await asked_for(url, known, "Say it", "Once.")
        seen = await live(f"{bot}/feed/v1/{known.repository}/say-it-{issue}/1/1")
        (folder.parent / "done").touch()
        reader = Reader(registrations.bare_path(folder, known))
        return await ended(reader, DEADLINE_S), seen, github.asked


async def live(url: str) -> str:
    asked, headers = {"wait_s": "1"}, {"Authorization": f"Bearer {READER}"}
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        while True:
            answer = await client.get(f"{url}/output", params=asked, headers=headers)
            pieces = answer.json().get("pieces", [])
            text = "".join(piece["text"] for piece in pieces)
            if "seen from afar" in text:
                return text
            await asyncio.sleep(0.1)


@pytest.mark.needs("unshare")
@pytest.mark.timeout(180)
def test_a_session_is_seen_by_the_forges_word_for_its_job(tmp_path: Path) -> None:
    known, folder = adopted(tmp_path), tmp_path / "brat"

    convoy, seen, asked = asyncio.run(watched(folder, known))

    (log,) = folder.glob("forge/runs/*/log.txt")
    said = log.read_text()
    assert convoy.state == "complete", said
    assert len(asked) == 1
    assert "ACTIONS_" not in seen
    for secret in (ASKS, "eyJ"):  # so begins every token of the issuer
        assert secret not in seen + said
