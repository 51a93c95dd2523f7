"""People read what sessions print from a bot elsewhere."""

import asyncio
from pathlib import Path

import pygit2
import pytest

from brat.status.session_views import FEED_TOKEN, RemoteOutput
from grite.errors import BratError
from runner.session.feed_client import OutputSender
from tests.feed.hall import READER, REPO, SESSION, hall, running
from tests.world.rules import NAME


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FEED_TOKEN, READER)
    repository = pygit2.init_repository(str(tmp_path / "clone"))
    repository.remotes.create("origin", f"https://github.com/{REPO}.git")
    return tmp_path / "clone"


async def test_output_is_followed_until_the_session_ends(
    tmp_path: Path, clone: Path
) -> None:
    rules = running()
    async with hall(tmp_path, rules) as here:
        far = RemoteOutput.of(f"http://127.0.0.1:{here.port}/", clone)
        texts = far.follow(SESSION)
        with OutputSender(here.place()) as feed:
            feed.show("one\x1b[2J\n")
            first = await asyncio.to_thread(next, texts)
        rules.lost(1, "gone")
        rest = await asyncio.to_thread(list[str], texts)
        last = await asyncio.to_thread(far.last, SESSION)

    assert (first, rest, last) == ("one\n", [], "one\n")


async def test_only_who_has_the_bots_token_may_read(tmp_path: Path) -> None:
    rules = running()
    async with hall(tmp_path, rules) as here:
        own = await here.send("GET", "output")
        wrong = await here.send("GET", "output", headers={})
        right = {"Authorization": f"Bearer {READER}"}
        odd = await here.send("GET", "output?after=x", headers=right)
        none = await here.send("GET", "output", f"{NAME}/2/1", headers=right)
        outside = await here.send("GET", "output", "../../1/1", headers=right)

    assert [own.status_code, wrong.status_code] == [401, 401]
    assert [odd.status_code, none.status_code, outside.status_code] == [400, 404, 404]


def _fault(clone: Path) -> str:
    with pytest.raises(BratError) as raised:
        RemoteOutput.of("http://127.0.0.1:1", clone).last(SESSION)
    return str(raised.value)


def test_the_token_goes_to_no_address_without_tls_but_this_machine(
    clone: Path,
) -> None:
    for bot in ("http://bot.example.com", "bot.example.com", "ftp://localhost", ""):
        with pytest.raises(BratError, match=f"{bot} is not a bot"):
            RemoteOutput.of(bot, clone)
    for bot in ("https://bot.example.com", "http://localhost:1", "http://[::1]:1/"):
        assert RemoteOutput.of(bot, clone).url.startswith(bot.rstrip("/"))


def test_what_is_missing_is_said(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = _fault(clone)
    pygit2.Repository(str(clone)).remotes.delete("origin")
    nowhere = _fault(clone)
    monkeypatch.delenv(FEED_TOKEN)

    assert away.startswith("the bot did not answer: ")
    assert "has no remote `origin`" in nowhere
    assert _fault(clone) == "set BRAT_FEED_TOKEN to the bot's feed_token"


async def test_a_session_that_does_not_run_is_not_waited_for(tmp_path: Path) -> None:
    rules = running()
    async with hall(tmp_path, rules) as here:
        await here.send("POST", "output", json={"first": 0, "pieces": ["a"]})
        rules.lost(1, "gone")
        right = {"Authorization": f"Bearer {READER}"}
        told = await here.send("GET", "output?after=5&wait_s=25", headers=right)

    assert told.json() == {"pieces": [], "next": 1, "running": False}
    assert here.feed.has(SESSION)
