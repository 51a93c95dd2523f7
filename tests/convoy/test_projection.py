"""What grite's own readers see of a convoy: issues, labels, open and closed."""

from types import SimpleNamespace

from convoy.log.record import record
from convoy.model import ids
from convoy.model.state import State
from grite import event as grite_event
from tests.convoy.stories import Story, story
from tests.world.rules import ACTOR, NAME


def projected(events: list[grite_event.Event]) -> dict[bytes, SimpleNamespace]:
    """Replay as grite rebuilds: by time, actor and id; each issue is created first."""
    issues: dict[bytes, SimpleNamespace] = {}
    for event in sorted(events, key=lambda e: (e.ts, e.actor, e.id)):
        match event.kind:
            case grite_event.IssueCreated(title=title, body=body, labels=labels):
                assert event.issue not in issues
                issues[event.issue] = SimpleNamespace(
                    title=title, body=body, labels={*labels}, state="open"
                )
            case grite_event.LabelAdded(label=label):
                issues[event.issue].labels.add(label)
            case grite_event.LabelRemoved(label=label):
                issues[event.issue].labels.remove(label)
            case grite_event.StateChanged(state=state):
                issues[event.issue].state = state
            case kind:
                assert isinstance(kind, grite_event.CommentAdded)
    return issues


@story
def test_labels_and_whether_it_is_closed_are_true_after_every_fact(tell: Story) -> None:
    state, written = State(), list[grite_event.Event]()
    for fact in tell().facts:
        state, events = record(state, [fact], actor=ACTOR, at=1)
        written += events
        issues = projected(written)
        for convoy in state.convoys.values():
            known: dict[bytes, tuple[str, str, bool]] = {
                ids.issue_of(NAME, 0): ("convoy", convoy.state, convoy.ended)
            }
            for task in convoy.tasks:
                number = ids.issue_of(NAME, task.number)
                known[number] = ("task", task.state, task.settled)
            for number, (kind, status, closed) in known.items():
                own = {f"convoy:{NAME}", f"status:{status}", f"type:{kind}"}
                assert issues[number].labels == own
                assert (issues[number].state == "closed") == closed
