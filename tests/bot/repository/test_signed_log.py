"""Who may write the log: attacks by whoever may push to the repository's refs.

Each of them won while push access to `refs/grite/*` was what made a bot.
"""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest

from bot.repository.clone import UNION
from bot.repository.mirror import Mirror
from convoy.events import Event as Fact
from convoy.events.leases import BotStarted
from convoy.events.people_events import ConvoyPaused, TaskApproved
from convoy.log import record as states
from convoy.log.record import Reading, follow, record
from convoy.model.state import State
from grite import checkpoint
from grite.errors import Unsigned
from grite.event import Event
from grite.signatures import SIGNERS_FILE, signer_line, with_signature
from grite.wal import MOST_FOREIGN, WAL_REF, Log
from tests.bot.history import History
from tests.bot.logs import Open, paused, resumed, story, write
from tests.bot.room import Room
from tests.bot.there import there
from tests.grite.commits import said
from tests.world.local_log import appended, set_head
from tests.world.log_keys import LOG_KEY, OTHER_KEY
from tests.world.rules import ACTOR, NAME, Rules, made, sha, spec

MALLORY = b"mallory's actor!"
NOW = 1_700_000_000_000
NOT_OURS = {
    "unsigned": None,
    "by another key": OTHER_KEY.writer(),
    "of another repository": LOG_KEY.writer("2"),
}


@pytest.fixture
def bot(mirror: Mirror) -> Mirror:
    """Give a bot with a task whose work waits for approval."""
    mirror.look()
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    write(mirror, *rules.written)
    return mirror


def forged(state: State, facts: Iterable[Fact], actor: bytes) -> tuple[Event, ...]:
    return record(state, facts, actor=actor, at=NOW)[1]


def approvals(state: State, actor: bytes = MALLORY) -> tuple[Event, ...]:
    """Return what makes an attacker a bot, and two people approve its choice."""
    people = (made(TaskApproved, commit=sha("a"), by=by) for by in ("alice", "carol"))
    return forged(state, (BotStarted(version="1"), *people), actor)


@pytest.mark.parametrize("actor", [MALLORY, ACTOR], ids=["a new bot", "the bot"])
@pytest.mark.parametrize("whose", NOT_OURS)
def test_pushed_approvals_count_for_nothing(
    whose: str, actor: bytes, bot: Mirror, origin: History, opened: Open
) -> None:
    before = bot.state
    log = Log(origin.path, NOT_OURS[whose])
    events = approvals(bot.state, actor)
    theirs = appended(log, events, after=bot.head, actor=actor, at_ms=NOW)
    believed = follow(log, theirs).state.convoys[NAME].tasks[0]
    assert [each.by for each in believed.approvals] == ["alice", "carol"]

    bot.look()

    assert bot.state == before
    (notice,) = bot.notices
    assert theirs[:10] in notice
    bot.look()
    assert len(bot.notices) == 1  # people are told once
    write(bot, *paused(bot))
    fresh = opened("fresh")
    fresh.look()
    assert fresh.state == bot.state
    assert not fresh.notices
    assert fresh.state.convoys[NAME].tasks[0].approvals == ()
    assert fresh.state.convoys[NAME].state == "paused"


async def test_a_push_to_a_running_bots_log_makes_nobody_a_bot(here: Room) -> None:
    log, at = Log(here.bare), here.state.moment.at + 1
    facts = BotStarted(version="1"), ConvoyPaused(convoy="do-it-1", by="alice")
    events = record(here.state, facts, actor=MALLORY, at=at)[1]
    theirs = appended(log, events, after=log.head(), actor=MALLORY, at_ms=at)
    assert follow(log, theirs).state.convoys["do-it-1"].state == "paused"

    await here.swept()
    await here.said("/brat ping")

    assert MALLORY.hex() not in here.state.bots
    assert here.convoy_state() == "active"
    entries = log.entries(str(log.head()))
    assert theirs in {each.commit for each in entries if each.is_foreign}


def test_trailers_of_foreign_commits_say_nothing(
    bot: Mirror, origin: History, opened: Open
) -> None:
    """A foreign commit that calls the bot's own commits foreign is not heard."""
    first = there(bot.head)
    write(bot, *paused(bot))
    log = Log(origin.path, OTHER_KEY.writer())
    listed = [first, str(bot.head)]
    words = approvals(bot.state)
    set_head(
        log,
        log.write(words, parent=bot.head, actor=MALLORY, at_ms=NOW, foreign=listed),
        bot.head,
    )
    bot.look()
    write(bot, *resumed(bot))

    fresh = opened("fresh")
    fresh.look()

    assert fresh.state == bot.state
    assert fresh.state.convoys[NAME].state == "active"


def test_a_flood_of_foreign_commits_is_taken_off_again(
    bot: Mirror, origin: History
) -> None:
    head = bot.head
    above = str(head)
    for _ in range(MOST_FOREIGN + 1):
        above = origin.commit({}, above)
    origin.point(WAL_REF, above)

    bot.look()

    assert bot.foreign == ()
    assert Log(origin.path).head() == bot.head == head


@pytest.mark.parametrize("actor", [MALLORY, UNION], ids=["another", "the union's"])
def test_a_fork_of_the_log_is_put_back_and_its_events_do_not_count(
    actor: bytes, bot: Mirror, origin: History, opened: Open
) -> None:
    """Those of the actor of what is put back came into a signed commit by it."""
    fork = bot.head
    write(bot, *paused(bot))
    head, before = bot.head, bot.state
    log = Log(origin.path)
    set_head(log, str(fork), head)
    words = approvals(bot.state, actor)
    appended(log, words, after=log.head(), actor=actor, at_ms=NOW)

    bot.look()

    assert bot.state.convoys == before.convoys
    assert bot.state.bots == before.bots
    fresh = opened("fresh")
    fresh.look()
    assert fresh.state.convoys == before.convoys
    assert Log(origin.path).passes(str(fresh.head), str(head))


@pytest.mark.parametrize("by", ["checkpoint", "run"])
@pytest.mark.parametrize("to", ["an older commit", "nothing"])
def test_a_fresh_reader_notices_a_rollback_by_the_newest_checkpoint_or_run(
    to: str, by: str, bot: Mirror, origin: History, opened: Open
) -> None:
    """Who knows the design puts every ref back; the titles of runs stay."""
    older = bot.head
    write(bot, *paused(bot))
    if by == "checkpoint":
        updates = bot.checkpoint(NOW)
        bot.push((), {update.ref: update for update in updates}, actor=ACTOR)
    if to == "nothing":
        origin.repo.references.delete(WAL_REF)
    else:
        origin.point(WAL_REF, str(older))
    fresh = opened("fresh")
    if by == "run":
        made_up = origin.commit({"a": b"1"}, message="WAL: 1\n\nRepository-Id: 1")
        fresh.witnesses = ("1" * 40, made_up, str(bot.head), str(older))
    else:
        said(origin.path, "gc", "--prune=now", "--quiet")

    fresh.look()

    assert fresh.state == bot.state
    assert Log(origin.path).head() == bot.head
    assert "brat restored it" in "".join(fresh.notices)


def test_a_log_of_another_repository_is_none(
    origin: History, opened: Open, tmp_path: Path
) -> None:
    """The same App's key signs both; the other one's approvals are replayed here."""
    elsewhere = LOG_KEY.opening("2")(tmp_path / "2.git", origin.path.as_uri(), None)
    elsewhere.look()
    write(elsewhere, *story())
    here = opened("here")

    with pytest.raises(Unsigned, match="another repository, not 1"):
        here.look()

    assert Log(origin.path).head() == elsewhere.head


@pytest.mark.parametrize("kind", ["candidate", "checkpoint", "lock"])
def test_nothing_else_passes_for_a_commit_of_the_log(
    kind: str, bot: Mirror, origin: History
) -> None:
    """A candidate is built of an agent's files: `events/`, and `meta.json` even."""
    head, before = bot.head, bot.state
    files = Log(origin.path).write(
        approvals(bot.state), parent=bot.head, actor=ACTOR, at_ms=NOW
    )
    tree = origin.at(files).tree
    message = {
        "candidate": "WAL: 3 events\n\nRepository-Id: 1",
        "checkpoint": "Checkpoint at 1\n\nRepository-Id: 1",
        "lock": "Lock: repo:bot\n\nRepository-Id: 1",
    }[kind]
    text = f"tree {tree.id}\nparent {head}\nauthor a <a@b> 1 +0000\n"
    text += f"committer a <a@b> 1 +0000\n\n{message}"
    made = text.encode()
    if kind != "candidate":
        made = with_signature(made, LOG_KEY.sign(made))
    origin.point(WAL_REF, origin.raw("commit", made))

    bot.look()

    assert (bot.head, bot.state) == (head, before)


@pytest.mark.parametrize("whose", NOT_OURS)
def test_a_forged_checkpoint_is_not_begun_at(
    whose: str, bot: Mirror, origin: History, opened: Open
) -> None:
    truth = states.encode_reading(Reading(bot.state))
    data = truth.replace(b'"state":"active"', b'"state":"paused"')
    assert data != truth
    made = checkpoint.write(origin.repo, data, str(bot.head), NOW, NOT_OURS[whose])
    origin.point(checkpoint.ref_of(NOW), made)
    fresh = opened("fresh")

    fresh.look()

    assert fresh.state == bot.state
    (notice,) = fresh.notices
    assert "is not trusted" in notice


def test_a_stolen_key_is_removed_and_a_new_one_signs_at_a_named_head(
    bot: Mirror, origin: History, tmp_path: Path
) -> None:
    good, before = str(bot.head), bot.state
    write(bot, *paused(bot))  # the thief's
    anew = OTHER_KEY.opening()(tmp_path / "anew.git", origin.path.as_uri(), None)
    with pytest.raises(Unsigned, match="key that signed it is not allowed"):
        anew.look()

    anew.adopt = good
    anew.look()

    assert anew.state.convoys == before.convoys
    assert anew.state.convoys[NAME].state == "active"


def test_a_mirror_that_knew_more_follows_a_log_taken_over_below(
    bot: Mirror, origin: History, opened: Open
) -> None:
    good, before = str(bot.head), bot.state
    write(bot, *paused(bot))
    other = opened("other")
    other.look()
    log = Log(origin.path, LOG_KEY.writer())
    words = approvals(State())[:1]
    above = [str(bot.head)]
    new = log.write(words, parent=bot.head, actor=MALLORY, at_ms=NOW, foreign=above)
    set_head(log, new, bot.head)

    for each in (bot, other):
        each.look()
        assert each.head == new
        assert each.state.convoys == before.convoys
    assert Log(origin.path).head() == new
    assert not Log(origin.path).passes(new, above[0])
    assert Log(origin.path).passes(new, good)


# --- what the forge remembers ---------------------------------------------------------


def test_runs_from_before_a_checkpoint_are_no_rollback(
    bot: Mirror, origin: History, opened: Open
) -> None:
    old = str(bot.head)
    for _ in range(2):
        write(bot, *paused(bot))
        write(bot, *resumed(bot))
    updates = bot.checkpoint(NOW)
    bot.push((), {update.ref: update for update in updates}, actor=ACTOR)
    write(bot, *paused(bot))
    fresh = opened("fresh")
    fresh.witnesses = (str(bot.head), old)

    fresh.look()

    assert fresh.state == bot.state
    assert not fresh.notices


# --- keys that the default branch names count once it is guarded ----------------------

THEIRS = signer_line(OTHER_KEY.public, "another bot").encode()
OURS = signer_line(LOG_KEY.public, "this bot").encode()


def name(origin: History, *lines: bytes) -> None:
    files = {SIGNERS_FILE: b"".join(lines)} if lines else {"README.md": b"# app\n"}
    origin.point("refs/heads/main", origin.commit(files))


@pytest.fixture
def written(tmp_path: Path, origin: History) -> History:
    """Give a remote whose log another bot wrote."""
    other = OTHER_KEY.opening()(tmp_path / "other.git", origin.path.as_uri(), None)
    other.look()
    write(other, *story())
    return origin


@pytest.mark.parametrize("believes", [None, False, True])
def test_a_branch_allows_the_keys_that_it_names_only_once_it_is_guarded(
    written: History, opened: Open, *, believes: bool | None
) -> None:
    mirror = opened("mirror")
    mirror.believes_branch = believes
    name(written, b"brat ssh-rsa AAAA\n")
    for _ in range(2):
        with pytest.raises(Unsigned):
            mirror.look()
    ignored = f"{SIGNERS_FILE} is ignored: line 1 "
    assert [each.startswith(ignored) for each in mirror.notices].count(True) == 1

    name(written, OURS, THEIRS)
    with nullcontext() if believes else pytest.raises(Unsigned):
        mirror.look()

    assert bool(mirror.state.convoys) == bool(believes)


def test_a_stolen_key_counts_no_more_once_it_is_removed(
    written: History, opened: Open, tmp_path: Path
) -> None:
    name(written, OURS, THEIRS)
    mirror = opened("mirror")
    mirror.believes_branch = True
    mirror.look()
    write(mirror, *paused(mirror))  # the bot's own key vouches for all below
    thief = OTHER_KEY.opening()(tmp_path / "thief.git", written.path.as_uri(), None)
    thief.believes_branch = True
    thief.look()
    before = mirror.state

    name(written, OURS)
    write(thief, *paused(thief, by="mallory"))
    mirror.look()

    assert mirror.state == before
    assert mirror.foreign
