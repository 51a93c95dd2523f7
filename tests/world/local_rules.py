"""The forge of a terminal's repository, asked while it is served."""

from pathlib import Path

import httpx

from brat.repository import registration
from brat.repository.registration import Registration
from tests.world.forge import DEADLINE_S, Json
from tests.world.terminal import Terminal


def registered(terminal: Terminal) -> Registration:
    """Return what `brat init` noted; it came before."""
    return registration.read(_folder(terminal))


def bare_of(terminal: Terminal) -> Path:
    """Return the forge's bare repository, for hooks of git's."""
    return registration.bare_path(_folder(terminal), registered(terminal))


def ask(terminal: Terminal, method: str, path: str, body: Json = None) -> Json:
    """Ask the forge that is being served, as the repository's owner."""
    known = registered(terminal)
    answer = httpx.request(
        method,
        f"http://127.0.0.1:{known.port}/api/v3/repos/{known.repository}/{path}",
        json=body,
        headers={"Authorization": f"Bearer {known.person_token}"},
        timeout=DEADLINE_S,
        trust_env=False,
    )
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def _folder(terminal: Terminal) -> Path:
    return terminal.cwd / ".git/brat"
