"""A rule that fails for one convoy sets that one aside, and all others are served."""

import pytest
from msgspec.structs import replace

from convoy.events.forge_actions import ItemSetAside
from convoy.model.ids import convoy_item
from convoy.model.state import State
from convoy.model.work import Convoys
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.rules.verdict import Observed
from tests.world.rules import NAME, Rules, commands, spec

NOW = 2_000_000


def beside_a_broken_one() -> tuple[State, State]:
    """Return a state with one sound convoy, and the same with a broken one beside."""
    sound = Rules().planned(spec(1), spec(2, after=(1,))).state
    convoy = sound.convoys[NAME]
    odd = replace(convoy.tasks[0].spec, kind="none that is known")
    task = replace(convoy.tasks[0], spec=odd)
    broken = replace(convoy, name="broken", issue=99, tasks=(task,))
    return sound, replace(sound, convoys=Convoys({"broken": broken, **sound.convoys}))


def test_all_others_are_served_as_without_it() -> None:
    sound, both = beside_a_broken_one()

    alone = owed_actions(sound, Observed(), Patience(), NOW)
    found = owed_actions(both, Observed(), Patience(), NOW)

    aside = [each.item for each in commands(found, ItemSetAside)]
    assert aside == [convoy_item("broken")]
    assert set(alone) <= set(found)


def test_it_says_that_the_fault_is_brats_own() -> None:
    _, both = beside_a_broken_one()

    found = owed_actions(both, Observed(), Patience(), NOW)

    (first,) = commands(found[:1], ItemSetAside)
    assert first.why.startswith("a bug in brat: KeyError")


def test_a_fault_that_is_no_convoys_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise LookupError("nobody's")

    monkeypatch.setattr("convoy.owed.owed._effects", fails)
    sound, _ = beside_a_broken_one()

    with pytest.raises(LookupError, match="nobody's"):
        owed_actions(sound, Observed(), Patience(), NOW)
