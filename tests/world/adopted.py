"""A project on a local forge: its registration, its bot's file, an issue in it."""

import json
from pathlib import Path

import httpx

from brat.forge.resources.forge_records import Ci
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import Registration, Source
from tests.world.patience import patient
from tests.world.terminal import Terminal

DEADLINE_S = patient(110)


def registered(folder: Path, terminal: Terminal, ci: str = "") -> Registration:
    source = Source(path=terminal.cwd, branch="main", name="words", person="pat")
    known = registrations.register(folder, source)
    if ci:
        registrations.set_ci(folder, known, Ci(command=ci))
    return known


async def asked_for(url: str, known: Registration, title: str, text: str) -> int:
    """Open an issue and label it, as its owner does; return its number."""
    async with local_mode.person(url, known) as person:
        issue = await person.open_issue(title, text)
        await person.relabel(issue, {"brat"}, set())
        return issue


def calling(url: str, known: Registration, below: str = "") -> httpx.AsyncClient:
    """Return a client that asks for the repository as its owner."""
    return httpx.AsyncClient(
        base_url=f"{url}/api/v3/repos/{known.repository}{below}",
        headers={"Authorization": f"Bearer {known.person_token}"},
        trust_env=False,
        timeout=DEADLINE_S,
    )


def bot_file(file: Path, known: Registration, url: str, **more: object) -> Path:
    """Write a bot.json for the forge at this address."""
    told = {
        "api_url": f"{url}/api/v3",
        "git_url": url,
        "token": known.bot_token,
        "repositories": [known.repository],
        "push_gap_s": 0,
        **more,
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(told))
    file.chmod(0o600)
    return file
