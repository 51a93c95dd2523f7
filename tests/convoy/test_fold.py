"""Who is believed when the log is read."""

from convoy.events import Claim, Event
from convoy.events.leases import BotStarted
from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.events.session_events import SessionSpawned
from convoy.events.task_events import TaskDropped
from convoy.log import body_of
from convoy.log.record import fold
from convoy.model import ids
from grite.event import CommentAdded, Event as GriteEvent, LabelAdded, StateChanged
from tests.convoy.anything import FORGED
from tests.world.rules import ACTOR, NAME, Rules, spec

STRANGER = bytes(16)
PAUSED = ConvoyPaused(convoy=NAME, by="ann")


def said(body: str, actor: bytes = ACTOR, at: int = 5_000_000) -> GriteEvent:
    return GriteEvent(ids.issue_of(NAME, 0), actor, at, CommentAdded(body))


def comment(
    fact: Event | Claim, actor: bytes = ACTOR, at: int = 5_000_000
) -> GriteEvent:
    return said(body_of(fact, "Somebody says."), actor, at)


def test_only_a_bots_events_count_from_its_start_on() -> None:
    state = Rules().planned(spec(1)).state
    started = comment(BotStarted(version="1"), STRANGER)
    paused = comment(PAUSED, STRANGER, 5_000_001)

    assert fold(state, "c", [comment(PAUSED, STRANGER)]).convoys == state.convoys
    early = fold(state, "c", [paused, started])
    late = fold(state, "c", [started, paused])

    assert (early.convoys[NAME].state, late.convoys[NAME].state) == ("active", "paused")
    assert early.bots == {ACTOR.hex(), STRANGER.hex()}


def test_an_event_that_was_logged_again_counts_once() -> None:
    state, paused = Rules().planned(spec(1)).state, comment(PAUSED)
    resumed = comment(ConvoyResumed(convoy=NAME, by="ann"), at=5_000_001)

    assert fold(state, "c", [paused]).convoys[NAME].state == "paused"
    read = fold(state, "c", [paused, resumed])
    assert read.convoys[NAME].state == "active"
    assert fold(read, "d", [paused]).convoys == read.convoys
    assert fold(read, "d", [resumed, paused]).moment.at == read.moment.at


def test_claims_words_and_what_is_of_nothing_here_change_nothing() -> None:
    rules = Rules().planned(spec(1))
    before = len(rules.facts)
    state, issue = rules.started(1).state, ids.issue_of(NAME, 1)
    assert rules.attempt(1).log == f"{before:040d}", "the commit of the hand-off"
    claim = SessionSpawned(convoy=NAME, task=1, attempt=1)
    nothing = [
        *(comment(claim, ACTOR), comment(claim, STRANGER)),
        *(said("Just words."), said(f"It said: {FORGED}")),
        GriteEvent(issue, ACTOR, 9, LabelAdded("status:merged")),
        GriteEvent(issue, ACTOR, 9, StateChanged("closed")),
    ]
    elsewhere = comment(ConvoyPaused(convoy="other", by="ann"))
    beyond = comment(TaskDropped(convoy=NAME, task=99, why="no"))

    assert fold(state, state.moment.commit, nothing) == state
    assert fold(state, "c", [elsewhere, beyond]).convoys == state.convoys


def test_what_a_newer_bot_wrote_is_collected_and_what_others_wrote_is_not() -> None:
    state = Rules().planned(spec(1)).state
    newer = '\n[brat]{"type":"convoy.frozen","v":1,"convoy":"fix-7"}[/brat]'
    deep = f"\n[brat]{'[' * 10_000}[/brat]"
    events = [said(newer, STRANGER), said(newer), said(deep)]
    assert fold(state, "c", events).unknown == ("convoy.frozen", "?")

    paused = comment(PAUSED)
    elsewhere = fold(state, "c", [paused, said(newer, at=5_000_001)], by=STRANGER)
    assert (elsewhere.convoys, elsewhere.unknown) == (state.convoys, ())
    for by in (ACTOR, None):  # None: the commit does not say
        assert fold(state, "c", [paused], by=by).convoys[NAME].state == "paused"
