"""A state whose ended convoys are packed is the same state, and nobody notices."""

import pytest
from msgspec.structs import replace

from convoy.log import record
from convoy.log.record import Reading, packed
from convoy.model.state import LATELY_MS, State
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.rules.calls import CallPeople
from convoy.rules.observed import Observed
from convoy.views import state_document
from grite.errors import Corrupt
from tests.convoy.stories import Story, landed_whole, story
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, spec

LATER = 2 * LATELY_MS


def aged(state: State, later: int = LATER) -> State:
    """Return the state as a bot reads it so many ms after its last event."""
    return replace(state, moment=replace(state.moment, at=state.moment.at + later))


@story
@pytest.mark.parametrize("later", [0, LATER])
def test_it_is_equal_and_owes_the_same(tell: Story, later: int) -> None:
    state = aged(tell().state, later)
    now = state.moment.at

    whole = Reading(state, ("a fault",), events=7)
    read = record.decode_reading(record.encode_reading(whole))
    assert (read.faults, read.events) == (whole.faults, 0)

    for small in (packed(state), read.state):
        # Not part of being equal, and yet it is the convoys' age.
        assert [*small.convoys] == [*state.convoys]
        assert [*small.convoys.summaries()] == [*state.convoys.summaries()]
        owed = owed_actions(small, Observed(), Patience(), now)
        assert owed == owed_actions(state, Observed(), Patience(), now)
        assert [*small.live()] == [*state.live()]
        assert [*small.running()] == [*state.running()]
        assert small == state
        assert state_document(small, now) == state_document(state, now)


def test_what_has_ended_is_packed_and_what_goes_on_is_not() -> None:
    ended = packed(aged(landed_whole().state))
    going = packed(aged(Rules().planned(spec(1)).started(1).state))

    assert (list(ended.convoys.at_hand), list(ended.convoys.packed)) == ([], [NAME])
    assert (list(going.convoys.at_hand), list(going.convoys.packed)) == ([NAME], [])
    rules = Rules().planned(spec(1), spec(2)).failed("nobody wants it")
    rules.do(CallPeople(convoy=NAME, text="It failed.", now=rules.now))
    at_hand = packed(rules.state).convoys.at_hand
    assert list(at_hand) == [NAME], "stays at hand for a week"
    assert list(packed(aged(rules.state)).convoys.packed) == [NAME]


def test_convoys_keep_the_order_they_were_asked_for_in() -> None:
    convoys = State().convoys
    for name in "abcd":
        convoys = convoys.having(replace(landed_whole().state.convoys[NAME], name=name))
    going = convoys.having(replace(convoys["b"], state="active"))
    state = packed(replace(State(), convoys=going))
    assert [*state.convoys.packed] == ["a", "c", "d"]

    woken = replace(state.convoys["a"], state="active")
    after = replace(state, convoys=state.convoys.having(woken))

    assert [*after.convoys] == [*"abcd"]
    assert [convoy.name for convoy in after.live()] == ["a", "b"]
    assert [convoy.name for convoy in after.convoys.newest_first()] == [*"dcba"]
    assert [*after.convoys.packed] == ["c", "d"]


# --- a state that was kept is the same again, or is not believed ----------------------


@looped(
    (b'"v":2', b'"v":3', "a different version"),
    (b'"form":"', b'"form":"x', "a different version"),
    (b'"state":{', b'"state":[', "cannot be read"),
    (b'"at_hand":{', b'"at_hand":{"a":1,', "cannot be read"),
    (b'"order":[', b'"order":["a",', "does not match its convoys"),
    (b'"checksum":"', b'"checksum":"0', "damaged"),
    (b'"commit":"', b'"commit":"","x":"', "belongs to no commit"),
)
def test_what_is_not_understood_whole_is_not_believed(
    old: bytes, new: bytes, fault: str
) -> None:
    known = Reading(Rules().planned(spec(1)).state, (), events=7)
    data = record.encode_reading(known)
    assert data == record.encode_reading(known)
    assert data.count(old) >= 1

    with pytest.raises(Corrupt, match=fault):
        record.decode_reading(data.replace(old, new, 1))
