"""What grite's own readers see of a convoy: issues, labels, open and closed."""

from convoy.log.record import record
from convoy.model import ids
from convoy.model.state import State
from grite import event as grite_event
from tests.convoy.stories import Story, story
from tests.world.rules import ACTOR, NAME


def projected(events: list[grite_event.Event]) -> dict[bytes, tuple[set[str], bool]]:
    """Return each issue's labels, and whether it is closed.

    Replayed as grite rebuilds: by time, actor and id; each issue is created first.
    """
    issues: dict[bytes, set[str]] = {}
    closed: dict[bytes, bool] = {}
    for event in sorted(events, key=lambda e: (e.ts, e.actor, e.id)):
        match event.kind:
            case grite_event.IssueCreated(labels=labels):
                assert event.issue not in issues
                issues[event.issue] = {*labels}
            case grite_event.LabelAdded(label=label):
                issues[event.issue].add(label)
            case grite_event.LabelRemoved(label=label):
                issues[event.issue].remove(label)
            case grite_event.StateChanged(state=state):
                closed[event.issue] = state == "closed"
            case kind:
                assert isinstance(kind, grite_event.CommentAdded)
    return {issue: (issues[issue], closed.get(issue, False)) for issue in issues}


@story
def test_labels_and_whether_it_is_closed_are_true_after_every_fact(tell: Story) -> None:
    state, written = State(), list[grite_event.Event]()
    for fact in tell().facts:
        state, events = record(state, [fact], actor=ACTOR, at=1)
        written += events
        issues = projected(written)
        for convoy in state.convoys.values():
            known: list[tuple[int, str, str, bool]] = [
                (0, "convoy", convoy.state, convoy.ended)
            ]
            known += [(t.number, "task", t.state, t.settled) for t in convoy.tasks]
            for number, kind, status, closed in known:
                own = {f"convoy:{NAME}", f"status:{status}", f"type:{kind}"}
                assert issues[ids.issue_of(NAME, number)] == (own, closed)
