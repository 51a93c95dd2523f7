"""What is set aside is tried again in its time, or forgotten if nobody wants it."""

from convoy.events.forge_actions import ActionDone, ItemSetAside, ItemTakenUp
from convoy.model import ids
from convoy.model.ids import MINUTE_MS, check_item, show_item
from convoy.owed import Note, Patience, Show
from convoy.owed.owed import UNTRIED_MS, owed_actions
from convoy.rules.people import FailConvoy
from convoy.rules.verdict import Observed
from tests.world.rules import NAME, Rules, sha, spec

LABELS = show_item(NAME, "labels")


def owed(rules: Rules) -> list[object]:
    """Return what is to be shown, and to be tried again."""
    actions = owed_actions(rules.state, Observed(), Patience(), rules.now)
    return [action for action in actions if isinstance(action, Show | Note)]


def over() -> Rules:
    """Return rules with a convoy that has ended, and told its issue."""
    rules = Rules().planned(spec(1)).do(FailConvoy(convoy=NAME, why="cancelled"))
    return rules.do(ActionDone(key=ids.finish_key(NAME), number=7))


def test_what_was_refused_when_a_convoy_ended_is_shown_later() -> None:
    rules = over()
    assert owed(rules) == []
    rules.do(ItemSetAside(item=LABELS, why="the forge says no"))

    assert owed(rules) == [Show(NAME, "comment")], "its comment tells of it"
    rules.now += MINUTE_MS
    assert owed(rules) == [Show(NAME, "labels"), Show(NAME, "comment")]
    rules.do(ItemTakenUp(item=LABELS, works=True))
    assert owed(rules) == []


def test_what_nobody_tries_any_more_is_no_longer_told() -> None:
    item = check_item(sha("a"))
    rules = over().do(ItemSetAside(item=item, why="the forge says no"))

    rules.now += MINUTE_MS + UNTRIED_MS - 1
    assert owed(rules) == []
    rules.now += 1
    assert owed(rules) == [Note(None, ItemTakenUp(item=item))]
    rules.do(ItemTakenUp(item=item))
    assert owed(rules) == []
