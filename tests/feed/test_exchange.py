"""A session's witness gets into the feed of a bot elsewhere by the forge's word."""

from functools import partial
from pathlib import Path

import pytest

from runner.inputs.job_inputs import FeedAddress, feed_in
from runner.session import feed_client
from runner.session.feed_client import OidcExchange, OutputSender
from tests.feed.hall import REPO, SESSION, hall, running, shows
from tests.world.cases import looped
from tests.world.forge import until
from tests.world.held_port import held_port
from tests.world.issuer import ASKS, Vouching

GIVEN = {
    "GITHUB_REPOSITORY": "pat/project",
    "BRAT_FEED_URL": "https://brat.example.com/",
    "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x.example.com/idtoken?api-version=2.0",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": ASKS,
}


async def test_a_job_is_let_in_and_again_by_the_next_bot(
    tmp_path: Path, github: Vouching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_client, "AGAIN_S", 0.05)
    rules = running()
    with held_port() as port:
        url = f"http://127.0.0.1:{port}"
        place = f"{url}/feed/v1/{REPO}/{SESSION}"
        way = OidcExchange(FeedAddress(place, ASKS, github.asks_url, url))
        with OutputSender(way) as feed:
            first, second = tmp_path / "first", tmp_path / "second"
            for folder, said in ((first, "one\n"), (second, "two\n")):
                folder.mkdir()
                async with hall(folder, rules, port, github.url, url):
                    feed.show(said)
                    await until(partial(shows, folder, said))

    assert github.asked == [url, url]


def test_the_way_is_found_in_the_jobs_environment() -> None:
    found = feed_in(GIVEN, "fix-7/1/1")

    assert found == FeedAddress(
        "https://brat.example.com/feed/v1/pat/project/fix-7/1/1",
        ASKS,
        GIVEN["ACTIONS_ID_TOKEN_REQUEST_URL"],
        "https://brat.example.com",
    )
    assert ASKS not in repr(found)


@looped(
    *((name, "") for name in GIVEN if name != "GITHUB_REPOSITORY"),
    ("BRAT_FEED_URL", "http://brat.example.com"),
    ("BRAT_FEED_URL", "https://"),
    ("BRAT_FEED_URL", "https://[x"),
    ("BRAT_FEED_URL", "file:///etc/passwd"),
    ("ACTIONS_ID_TOKEN_REQUEST_URL", "http://x.example.com/idtoken"),
    ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "a\r\nb"),
)
def test_what_makes_no_sense_there_leads_nowhere(name: str, value: str) -> None:
    assert feed_in(GIVEN | {name: value}, "fix-7/1/1") is None
