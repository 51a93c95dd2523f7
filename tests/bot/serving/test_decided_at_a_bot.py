"""`brat ... --bot` in a clone, against a hosted bot behind TLS."""

import asyncio
from pathlib import Path

import pytest

from tests.world.forge import REPO
from tests.world.site import API_TOKEN, NAME, PRIVATE, site_with_tls
from tests.world.terminal import Said, Terminal, new_terminal

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


async def typed(terminal: Terminal, line: str) -> Said:
    return await asyncio.to_thread(terminal.type, line)


async def test_a_convoy_is_paused_at_a_hosted_bot(tmp_path: Path) -> None:
    """The clone holds no log: the bot says which convoy lives."""
    terminal = new_terminal(tmp_path)
    async with site_with_tls(tmp_path) as (here, url, authority):
        terminal.done(f"git remote add origin {here.town.url}/{REPO}.git")
        pause = f"brat convoy pause {NAME}"
        trusts = f"env SSL_CERT_FILE={authority}"
        shows = f"{trusts} BRAT_API_TOKEN={API_TOKEN}"
        done = await typed(terminal, f"{shows} {pause} --bot {url}")
        again = await typed(terminal, f"{shows} BRAT_BOT_URL={url} {pause}")
        wrong = await typed(
            terminal, f"{trusts} BRAT_API_TOKEN=made-up-of-nobody {pause} --bot {url}"
        )
        terminal.done(f"git remote set-url origin {here.town.url}/{PRIVATE}.git")
        hidden = await typed(
            terminal, f"{trusts} BRAT_API_TOKEN=made-up-of-nobody {pause} --bot {url}"
        )
        elsewhere = await typed(terminal, f"{shows} {pause} --bot {url}")
        terminal.done(f"git config brat.bot {url}")
        terminal.done(f"git remote set-url origin {here.town.url}/{REPO}.git")
        configured = await typed(terminal, f"{shows} brat convoy resume {NAME}")

    assert (done.status, done.lines) == (
        0,
        [f"the bot at {url} carried out: pause {NAME}"],
    )
    assert again.status == 1
    assert "refused the request: That cannot be done: " in again.err
    assert (wrong.status, hidden.status, elsewhere.status) == (1, 1, 1)
    assert f"the bot at {url} refused the request (403): Sign in first." in wrong.err
    assert "(404): This page does not exist, or you do not have" in hidden.err
    assert f"(404): There is no convoy {NAME}." in elsewhere.err
    assert configured.status == 0, configured.err
    for each in (done, again, wrong, hidden, elsewhere, configured):
        assert len(each.lines) == 1
        assert API_TOKEN not in each.err
