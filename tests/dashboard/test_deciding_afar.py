"""What a person types goes to the bot they named, and comes back as one sentence."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from bot.requests.verb import Request
from bot.requests.verb_table import endpoint_of, request_by_word
from brat.commands import decisions
from brat.status.bot_api import ADDRESS, TOKEN, BotApi, named_bot
from convoy.model.state import Convoy
from grite.errors import BratError, Unavailable
from tests.dashboard.conftest import TOKEN as KNOWN, Visit, blocked, opens
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, spec


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, KNOWN)
    monkeypatch.delenv(ADDRESS, raising=False)


async def typed(
    visit: Visit, where: Path, request_: Request, convoy: str | None = None
) -> int:
    """Decide about a convoy; None: the one that lives is meant."""
    decide = decisions.decided
    return await asyncio.to_thread(decide, where, convoy, request_, visit.url)


@looped(
    (request_by_word("retry", 1), lambda c: c.task(1).state == "queued"),
    (request_by_word("drop", 1), lambda c: c.task(1).state == "dropped"),
    (request_by_word("stop", 2), lambda c: c.task(2).state == "blocked"),
    (request_by_word("pause"), lambda c: c.state == "paused"),
    (
        request_by_word("add", text="Write it down paths: README.md"),
        lambda c: len(c.tasks) == 4 and c.task(4).spec.paths == ("README.md",),
    ),
)
async def test_a_decision_is_carried_out_and_a_second_time_refused(
    request_: Request,
    done: Callable[[Convoy], bool],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever lost the answer may ask again: nothing happens twice."""
    async with opens(blocked()) as visit:
        first = await typed(visit, tmp_path, request_, NAME)
        said = capsys.readouterr().err.strip()
        facts = len(visit.rules.facts)
        again = await typed(visit, tmp_path, request_)
        refused = capsys.readouterr().err.strip()

    assert done(visit.rules.convoy)
    task = request_.arguments.get("task")
    about = f"task {task} of {NAME}" if task else NAME
    assert (first, again) == (0, 1)
    word = endpoint_of(request_).word
    assert said == f"the bot at {visit.url} carried out: {word} {about}"
    begins = f"brat: the bot at {visit.url} refused the request: That cannot be done: "
    assert refused.startswith(begins)
    assert len(refused.splitlines()) == 1
    assert len(visit.rules.facts) == facts


def test_a_word_that_the_table_does_not_offer_is_said() -> None:
    for word, task, text, why in (
        ("explode", 0, "", "^unknown command explode; use one of: approve, "),
        ("pause", 1, "", "^unknown command pause; use one of: retry, "),
        ("tell", 1, "<!-- nothing -->", "^tell needs text$"),
    ):
        with pytest.raises(BratError, match=why):
            request_by_word(word, task, text)


async def test_who_may_not_and_a_forge_that_is_away_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Unavailable("the forge is away")
    for token, trouble, said in (
        (KNOWN, away, r"\(503\): the forge is away; try again\."),
        ("a-token-of-nobody", None, r"the request \(403\): Open the address"),
    ):
        monkeypatch.setenv(TOKEN, token)
        async with opens(blocked(), trouble=trouble) as visit:
            with pytest.raises(BratError, match=said):
                await typed(visit, tmp_path, request_by_word("pause"))
        assert visit.rules.convoy.state == "active"


async def test_output_is_followed_until_the_session_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end alone is told of a long one: what is known of it is not shown again."""
    rules, long = Rules().planned(spec(1)).started(1), "a line of many\n" * 200
    told = ["one\x1b[2J\n", f"one\n{long}", f"{long[9:]}last\n"]

    def printed(_: object) -> str:
        if len(told) > 1:
            return told.pop(0)
        if rules.task(1).attempt:
            rules.lost(1, "gone")
        return told[0]

    monkeypatch.setattr("brat.status.bot_api.LOOK_S", 0.0)
    async with opens(rules, output=printed) as visit:
        api = BotApi.of(visit.url, tmp_path)
        texts = await asyncio.to_thread(list[str], api.follow(NAME, 1))

    assert texts == ["one\n", long, "last\n"]


def test_who_cannot_be_asked_is_said_and_no_token_goes_where_it_could_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_address = "is not a bot's address: use https://HOST"
    here, https = "http://localhost:1", "https://brat.example"
    for token, bot, said in (
        (KNOWN, here, "did not answer .* before you try again"),
        *(
            (KNOWN, bot, no_address)
            for bot in ("http://brat.example", "x.y", "ftp://localhost", "https://")
        ),
        ("", here, f"set {TOKEN} to a token that the bot at"),
        (f"local-{KNOWN}", https, "was not sent to"),  # it is of this machine
    ):
        monkeypatch.setenv(TOKEN, token)
        with pytest.raises(BratError, match=said) as caught:
            decisions.decided(tmp_path, NAME, request_by_word("pause"), bot)
        assert KNOWN not in str(caught.value)
    assert BotApi.of("http://localhost:5173", tmp_path).token


def test_the_bot_is_named_by_the_person_and_never_by_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = pygit2.init_repository(str(tmp_path))
    (tmp_path / ".brat").mkdir()
    (tmp_path / ".brat/config.toml").write_text('[bot]\nurl = "https://evil"\n')
    told = [named_bot(None, tmp_path)]
    repository.config["brat.bot"] = "https://of.the.clone"
    told.append(named_bot(None, tmp_path))
    monkeypatch.setenv(ADDRESS, "https://of.the.shell")
    told.append(named_bot(None, tmp_path))
    told.append(named_bot("https://of.the.word", tmp_path))

    own = [f"https://of.the.{each}" for each in ("clone", "shell", "word")]
    assert told == [None, *own]


def test_a_hosted_bot_is_asked_below_the_repositorys_name(tmp_path: Path) -> None:
    repository = pygit2.init_repository(str(tmp_path))
    with pytest.raises(BratError, match="no remote `origin`"):
        BotApi.of("https://brat.example.com/", tmp_path)
    repository.remotes.create("origin", "git@github.com:ann/app.git")

    api = BotApi.of("https://brat.example.com/", tmp_path)

    assert api.url == "https://brat.example.com/ann/app/api/v1"
    assert KNOWN not in repr(api)
