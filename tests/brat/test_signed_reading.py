"""Readers of a signed log: they stop where nobody who may sign it has signed."""

import json
from pathlib import Path

import pytest

from brat.commands.mcp_server import TOOLS, Backend
from brat.repository import log_reader
from brat.repository.log_reader import Reader, authority_of, verify
from convoy.events.people_events import ConvoyPaused
from convoy.log.record import record
from grite import signatures
from grite.errors import BratError
from grite.wal import Log
from tests.grite.commits import commit, said
from tests.world.kept import NOW, Kept
from tests.world.local_log import appended
from tests.world.log_keys import LOG_KEY, OTHER_KEY
from tests.world.rules import ACTOR, NAME


@pytest.fixture
def told(tmp_path: Path) -> Kept:
    """Give the log of a local forge, whose bot has a key."""
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / signatures.BOT_SIGNERS_FILE).write_text(line(LOG_KEY.public))
    path = tmp_path / "forge" / "repos" / "alice" / "app.git"
    path.parent.mkdir(parents=True)
    return Kept(path, writer=LOG_KEY.writer())


def line(public: bytes) -> str:
    return signatures.signer_line(public, "a key")


def forged(told: Kept) -> str:
    """Push what pauses the convoy, as the bot, without its key."""
    log = Log(told.path)
    reader = Reader(told.path)
    fact = ConvoyPaused(convoy=NAME, by="mallory")
    events = record(reader.read(), [fact], actor=ACTOR, at=NOW)[1]
    return appended(log, events, after=log.head(), actor=ACTOR, at_ms=NOW)


def test_a_forged_event_changes_nothing_and_is_named(told: Kept) -> None:
    before = Reader(told.path).read()
    theirs = forged(told)
    reader = Reader(told.path)

    assert reader.read() == before
    (fault,) = reader.faults
    assert theirs[:10] in fault
    assert "not signed" in fault


async def test_what_lists_the_log_names_it_and_shows_none_of_it(told: Kept) -> None:
    whole = log_reader.newest_lines(told.path, 100)
    theirs = forged(told)

    shown = log_reader.newest_lines(told.path, 100)
    exported = json.loads(log_reader.as_json(log_reader.log_entries(told.path)))

    assert shown[:-1] == whole
    assert (
        f"commit {theirs[:10]} does not count: no allowed key signed it"
        in shown[-1].text
    )
    assert exported["meta"]["foreign"] == [theirs]
    assert "mallory" not in json.dumps(exported)
    seen = await TOOLS[3].call(Backend(told.path), {"lines": 100})
    assert [one["text"] for one in seen["lines"]] == [one.text for one in shown]
    assert "mallory" not in str(shown)


def test_a_forged_checkpoint_is_not_used(told: Kept) -> None:
    told.writer = OTHER_KEY.writer()
    ref = told.mark()
    reader = Reader(told.path)

    reader.read()

    (notice,) = reader.notices
    assert notice.startswith(f"{ref} cannot be used")
    assert "not allowed" in notice
    assert len(verify(told.path)) == 1


def test_in_a_clone_the_default_branch_says_who_may_sign(tmp_path: Path) -> None:
    told = Kept(tmp_path / "clone.git", writer=LOG_KEY.writer())
    assert authority_of(told.path) is None
    rules = {signatures.SIGNERS_FILE: line(OTHER_KEY.public).encode()}
    said(told.path, "update-ref", "refs/heads/main", commit(told.path, rules))

    reader = Reader(told.path)
    reader.read()

    assert reader.trusted is not None
    assert reader.trusted.head is None
    assert "not allowed" in reader.trusted.fault


def test_a_line_that_cannot_be_enforced_stops_a_reader(told: Kept) -> None:
    file = told.path.parents[3] / "bot" / signatures.BOT_SIGNERS_FILE
    file.write_text("brat ssh-rsa AAAA")

    with pytest.raises(BratError, match="line 1 of the allowed signers"):
        Reader(told.path).read()
