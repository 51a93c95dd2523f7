"""What grite's own readers see of a convoy: issues, labels, open and closed."""

from convoy.events.leases import BotStarted
from convoy.log.record import record
from convoy.model import ids
from convoy.model.state import State
from grite.event import (
    CommentAdded,
    Event as GriteEvent,
    IssueCreated,
    LabelAdded,
    LabelRemoved,
    StateChanged,
)
from tests.convoy.stories import Story, story, went_wrong
from tests.world.rules import ACTOR, NAME

OTHER = bytes(16)


class Issue:
    def __init__(self, created: IssueCreated) -> None:
        self.title = created.title
        self.body = created.body
        self.labels = set(created.labels)
        self.state = "open"

    def take(self, event: GriteEvent) -> None:
        match event.kind:
            case LabelAdded(label=label):
                self.labels.add(label)
            case LabelRemoved(label=label):
                self.labels.remove(label)
            case StateChanged(state=state):
                self.state = state
            case CommentAdded():
                pass
            case kind:
                raise AssertionError(kind)


def projected(events: list[GriteEvent]) -> dict[bytes, Issue]:
    """Replay as grite rebuilds: by time, actor and id; each issue is created first."""
    issues: dict[bytes, Issue] = {}
    for event in sorted(events, key=lambda e: (e.ts, e.actor, e.id)):
        if isinstance(event.kind, IssueCreated):
            assert event.issue not in issues
            issues[event.issue] = Issue(event.kind)
        else:
            issues[event.issue].take(event)
    return issues


@story
def test_labels_and_whether_it_is_closed_are_true_after_every_fact(tell: Story) -> None:
    state, written = State(), list[GriteEvent]()
    for fact in tell().facts:
        state, events = record(state, [fact], actor=ACTOR, at=1)
        written += events
        issues = projected(written)
        for convoy in state.convoys.values():
            issue = issues[ids.convoy_issue(NAME)]
            own = {f"convoy:{NAME}", f"status:{convoy.state}", "type:convoy"}
            assert issue.labels == own
            assert (issue.state == "closed") == convoy.ended
            for task in convoy.tasks:
                issue = issues[ids.task_issue(NAME, task.number)]
                own = {f"convoy:{NAME}", f"status:{task.state}", "type:task"}
                assert issue.labels == own
                assert (issue.state == "closed") == task.settled


def test_issues_have_the_titles_and_texts_people_gave() -> None:
    issues = projected(went_wrong().written)

    convoy = issues[ids.convoy_issue(NAME)]
    assert (convoy.title, convoy.body) == ("Fix it", "All of it.")
    task = issues[ids.task_issue(NAME, 4)]
    assert (task.title, task.body) == ("Task 4", "Do it.")
    assert issues[ids.repository_issue()].title == "brat"


def test_a_second_bot_does_not_create_the_repositorys_issue_again() -> None:
    first, written = record(State(), [BotStarted(version="0")], actor=ACTOR, at=1)

    _, more = record(first, [BotStarted(version="1")], actor=OTHER, at=1)

    assert projected([*written, *more]).keys() == {ids.repository_issue()}
