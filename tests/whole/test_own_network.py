"""The whole loop in a company: own authority, and no way out but through a proxy."""

import asyncio
import json
import signal
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from brat.forge.http_server import serving
from brat.forge.storage.forge_state import Forge
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from grite.outbound import PROXIES, TRUST
from tests.whole.crash import seen, set_up
from tests.world.adopted import asked_for, bot_file
from tests.world.forge import until
from tests.world.patience import patient
from tests.world.staying import staying
from tests.world.terminal import new_terminal
from tests.world.tls import connect_proxy, tls_before
from tests.world.trusting_jobs import trusting_jobs

pytestmark = pytest.mark.timeout(300)
HOST = "github.example.test"
"""A name that nobody can resolve."""
CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "env > seen; echo done > $BRAT_TASK.txt"]
"""


@pytest.mark.layer("landing")
async def test_a_convoy_lands_through_a_proxy_and_by_an_own_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = new_terminal(tmp_path / "terminal")
    known = set_up(tmp_path, CONFIG)
    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with (
            serving(forge, base=f"https://{HOST}") as url,
            tls_before(urlsplit(url).port or 0, tmp_path, HOST) as (port, authority),
            connect_proxy(port, f"{HOST}:443") as proxy,
        ):
            way = f"http://{proxy.person}@127.0.0.1:{proxy.port}"
            env = {"HTTPS_PROXY": way, "SSL_CERT_FILE": str(authority)}
            for name in (*PROXIES, *TRUST):  # the machine of the forge's runs
                monkeypatch.delenv(name, raising=False)
            for name, value in env.items():
                monkeypatch.setenv(name, value)
            await asked_for(url, known, "Do it", "- [ ] one\n")

            def landed() -> bool:
                return all(one.state == "closed" for one in forge.store.issues.all())

            more = {"folder": str(tmp_path / BOT_FOLDER), "sweep_s": 0.5}
            file = bot_file(tmp_path / "bot.json", known, f"https://{HOST}", **more)
            words = ("bot", "serve", str(file), "--poll", "--log", "json")
            with staying(terminal, *words, **env) as serve:
                await until(landed, deadline_s=patient(120))
                serve.process.send_signal(signal.SIGINT)
                status = await asyncio.to_thread(serve.ended)  # it needs the proxy
        world = seen(tmp_path, forge, known)
        bare = forge.bare(forge.known(known.repository))
        left = bare.file(bare.tip("main") or "", "seen")

    assert status == 0
    lines = [json.loads(line) for line in serve.lines]
    assert all({"timestamp", "level", "logger"} < {*line} for line in lines)
    assert "stopped; unfinished work continues" in lines[-1]["event"]
    assert (world.convoy, world.merged_pulls) == ("complete", world.pulls)
    assert {head.split(" ")[1] for head in proxy.heads} == set(proxy.hosts)
    assert any("User-Agent: git/" in head for head in proxy.heads)
    assert not any("\r\nAuthorization:" in head for head in proxy.heads)
    assert left is not None
    assert b"SSL_CERT_FILE=" in left.data
    assert proxy.person.encode() not in left.data
