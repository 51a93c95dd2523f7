"""A bot service's machine is gone in mid-convoy; a service on another one takes over.

The other has a folder of its own: no mirror, no cache, and a key that signed nothing
yet. All it is given is the commit that it names when it first refuses.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from brat.demo import demo_processes
from brat.demo.demo_processes import BotProcess
from brat.forge.resources.account_resource import Ci
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration, Source
from tests.whole.test_disaster_drill import AGENT, LIST, at_work
from tests.world.ended import ended
from tests.world.patience import patient
from tests.world.staying import until
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)

DEADLINE_S = patient(120)


@contextmanager
def service(folder: Path, known: Registration, url: str) -> Iterator[BotProcess]:
    """Give a bot service that is not started yet, and end it."""
    bot = BotProcess(folder, known, url)
    try:
        yield bot
    finally:
        bot.stop()


def served(folder: Path) -> AbstractContextManager[str]:
    """Serve the forge, which is elsewhere and stays; give its address."""
    log = folder / "forge.log"
    return forge_process.forge(folder / FORGE_FOLDER, 0, log=log)


def burnt_down(folder: Path) -> None:
    """Leave nothing of a bot's machine: the next one has another key."""
    demo_processes.end_all(folder)
    shutil.rmtree(folder / BOT_FOLDER)
    for each in ("bot.json", "bot.log"):
        (folder / each).unlink()


def adopts(folder: Path, commit: str) -> None:
    """Let a bot that is not started vouch for the log up to a commit."""
    file = folder / "bot.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings | {"adopt_log": commit}))


def asked(url: str, known: Registration) -> None:
    """Open an issue as the person, with the label."""
    title, _, body = LIST.partition("\n\n")
    httpx.post(
        f"{url}/api/v3/repos/{known.repository}/issues",
        json={"title": title, "body": body, "labels": ["brat"]},
        headers={"Authorization": f"Bearer {known.person_token}"},
        trust_env=False,
        timeout=DEADLINE_S,
    ).raise_for_status()


def said(folder: Path, pattern: str) -> Callable[[], list[str]]:
    """Return a look for what a bot's log says."""
    log = folder / "bot.log"
    return lambda: re.findall(pattern, log.read_text()) if log.exists() else []


def test_a_service_on_another_machine_brings_the_convoy_to_its_end(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(AGENT))
    source = Source(path=terminal.cwd, branch="main", name="words", person="pat")
    folder = tmp_path / "brat"
    known = registrations.register(folder, source)
    registrations.set_ci(folder, known, Ci(command="true"))
    with served(folder) as url, service(folder, known, url) as bot:
        bot.start()
        asyncio.run(local_mode.point_hook(url, known, bot.port))
        asked(url, known)
        until(lambda: at_work(folder))
        bot.kill()
    burnt_down(folder)

    with served(folder) as url:  # its jobs take the hand-offs of the new key
        with service(folder, known, url) as bot:
            bot.start()
            (head, *_) = until(said(folder, r"\b[0-9a-f]{40}\b"))
        with service(folder, known, url) as bot:
            adopts(folder, head)
            bot.start()
            asyncio.run(local_mode.point_hook(url, known, bot.port))
            reader = Reader(registrations.bare_path(folder, known))
            convoy = asyncio.run(ended(reader, DEADLINE_S))

    assert convoy.state == "complete"
    assert [task.state for task in convoy.tasks] == ["merged"] * 3
    assert [task.started for task in convoy.tasks] == [1, 2, 1]
