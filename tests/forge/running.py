"""Starting runs in tests, with a small program in the place of our runner."""

import sys
from pathlib import Path

import httpx

from brat.forge.service.run_processes import How
from tests.world.forge import DEADLINE_S, Json, Town, until

STARTER = Path(__file__).parent.parent / "world" / "starter.py"
INPUTS = {"session": "fix-1/2/1", "log": "a" * 40, "nonce": "n0nce"}
DISPATCH = "actions/workflows/brat-task.yml/dispatches"


def client(token: str) -> httpx.Client:
    """Return a client that shows a token to a forge in another process."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(headers=headers, trust_env=False, timeout=DEADLINE_S)


def starter(deed: str) -> tuple[str, ...]:
    return (sys.executable, "-I", str(STARTER), deed)


def hasty(deed: str) -> How:
    """Return runs that do `deed`, and that are cancelled without much patience."""
    return How(starter(deed), interrupt_s=0.2, terminate_s=0.2)


async def dispatch(here: Town, **inputs: str) -> int:
    asked = {"ref": "main", "inputs": INPUTS | inputs, "return_run_details": True}
    made = await here.post(DISPATCH, asked)
    return int(made["workflow_run_id"])


async def stood(here: Town, run: int, status: str) -> Json:
    """Return a run once it has this status."""

    async def seen() -> Json:
        found = await here.get(f"actions/runs/{run}")
        return found if found["status"] == status else None

    return await until(seen)


async def ended(here: Town, run: int) -> Json:
    return await stood(here, run, "completed")


def log(here: Town, run: int) -> str:
    path = here.forge.folder / "runs" / str(run) / "log.txt"
    return path.read_text() if path.exists() else ""


async def said(here: Town, run: int, word: str) -> str:
    async def heard() -> str:
        found = log(here, run)
        return found if word in found and found.endswith("\n") else ""

    return str(await until(heard))
