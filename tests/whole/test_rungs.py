"""Each way that the documents show takes three commands, and they do what it says.

The way without a server is gone to its end in test_actions_only.
"""

import asyncio
import re
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from brat.local import forge_process, local_mode
from brat.repository.registration import FORGE_FOLDER, Registration
from tests.world.adopted import bot_file, registered
from tests.world.patience import patient
from tests.world.readme import WITH_BOT, WITHOUT_SERVER, commands
from tests.world.staying import staying, typed
from tests.world.terminal import Terminal
from tests.world.words import engine, project

DEADLINE_S = patient(60)
LOOK_S = 0.1


@pytest.mark.parametrize("page", [WITHOUT_SERVER, WITH_BOT])
def test_it_takes_three_commands_to_the_first_convoy(page: Path) -> None:
    typed_there = commands(page)

    assert 1 <= len(typed_there) <= 3
    assert any(re.match("brat (init --|setup$)", line) for line in typed_there)


def test_a_bot_of_ones_own_is_made_as_the_readme_says(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("true"))
    made, serve, adopt = commands(WITH_BOT)

    # As far as one gets without GitHub: its page is open, and waits for the click.
    with typed(terminal, *words(made), "--port", "0") as making:
        assert making.stdout is not None
        said = [making.stdout.readline(), making.stdout.readline()]
        making.send_signal(signal.SIGINT)
    assert said[0].strip() == "open this address in a browser; it works only once:"
    assert said[1].startswith("http://127.0.0.1:")

    terminal.done(f"git clone --quiet --bare . {tmp_path / 'origin.git'}")
    terminal.done(f"git remote add origin {tmp_path / 'origin.git'}")
    terminal.done("git config push.autoSetupRemote true")
    terminal.done(f"sh -c {shlex.quote(adopt)}")
    known = registered(tmp_path / "brat", terminal)

    assert asyncio.run(accepted(tmp_path / "brat", known, terminal, words(serve)))


def words(command: str) -> list[str]:
    first, *rest = shlex.split(command)
    assert first == "brat"
    return rest


async def accepted(
    folder: Path, known: Registration, terminal: Terminal, serve: list[str]
) -> bool:
    """Serve a forge's repository, label an issue there; whether it became a convoy."""
    log = folder / "forge.log"
    with forge_process.forge(folder / FORGE_FOLDER, 0, log=log) as (url, _):
        file = terminal.cwd / serve[-1]
        more = {"folder": str(file.parent / "data"), "secret": known.secret, "port": 0}
        bot_file(file, known, url, **more)
        with staying(terminal, *serve) as serving:
            at = serving.says("deliveries: http://")
            port = urlsplit(at.partition("deliveries: ")[2]).port or 0
            async with (
                asyncio.timeout(DEADLINE_S),
                local_mode.person(url, known) as person,
            ):
                await ready(port)
                await local_mode.point_hook(url, known, port)
                issue = await person.open_issue("Say it", "Once.")
                await person.relabel(issue, {"brat"}, set())
                while not await person.issues(labels="brat:active"):  # noqa: ASYNC110  asked over HTTP
                    await asyncio.sleep(LOOK_S)
    return True


async def ready(port: int) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        while True:
            with suppress(httpx.HTTPError):
                answer = await client.get(f"http://127.0.0.1:{port}/readyz")
                if answer.status_code == 200:
                    return
            await asyncio.sleep(LOOK_S)
