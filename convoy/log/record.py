"""Facts as grite events, and the fold of what is read back.

Each fact is a comment on the grite issue of its convoy or task. The label and state
changes that let `grite issue list --label status:running` tell the truth are written in
the same chunk; they are for grite's readers and change nothing here.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from convoy.events import Claim, Event
from convoy.events.bots import BotStarted
from convoy.log.codec import UnknownFact, fact_of
from convoy.log.event_body import body_of, broken_up
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State
from grite.event import (
    CommentAdded,
    Event as GriteEvent,
    IssueCreated,
    Kind,
    LabelAdded,
    LabelRemoved,
    StateChanged,
)


def issue_of(fact: Event | Claim) -> bytes:
    """Return the grite issue that carries `fact`."""
    convoy = getattr(fact, "convoy", "")
    task = getattr(fact, "task", 0)
    if not convoy:
        return ids.repository_issue()
    return ids.issue_of(convoy, task)


def record(
    state: State, facts: Iterable[Event], *, actor: bytes, at: int
) -> tuple[State, tuple[GriteEvent, ...]]:
    """Return the state after `facts` and the grite events that carry them.

    Args:
        state: before the facts; its moment says when the last event was.
        facts: in order.
        actor: the bot's 16 bytes.
        at: now, unix ms; each event gets a time of its own, never going back.
    """
    out: list[GriteEvent] = []
    for fact in facts:
        before = state
        first = max(at, before.moment.at + 1)
        state = _stepped(before, fact, actor.hex(), Moment(at=first))
        shown = tuple(_shown(before, state))
        if shown:  # the fact comes after them, so that the next time is counted from it
            moment = Moment(at=first + len(shown))
            state = _stepped(before, fact, actor.hex(), moment)
        comment = CommentAdded(body_of(fact, fact.sentence()))
        out += (
            GriteEvent(issue, actor, ts, kind)
            for ts, (issue, kind) in enumerate(
                (*shown, (issue_of(fact), comment)), start=first
            )
        )
    return state, tuple(out)


def fold(
    state: State,
    commit: str,
    events: Iterable[GriteEvent],
    by: bytes | None = None,
) -> State:
    """Return `state` after the events of one commit, in the order they stand in it.

    Only events of bots change anything, and each of them once, in the commit that its
    bot wrote it into: a copy that another program logged again was decided on another
    state. What a bot wrote that this version does not know is collected in `unknown`.

    Args:
        state: before the commit.
        commit: its id.
        events: what it holds.
        by: the actor who wrote the commit; None where that is not known.
    """
    state = replace(state, moment=replace(state.moment, commit=commit))
    for event in events:
        if not isinstance(event.kind, CommentAdded) or by not in (None, event.actor):
            continue
        # The times of what bots decide on one chain only grow.
        if event.ts <= state.moment.at:
            continue
        fact = fact_of(event.kind.body)
        actor = event.actor.hex()
        if fact is None or isinstance(fact, Claim):
            continue
        if not isinstance(fact, BotStarted) and actor not in state.bots:
            continue
        if isinstance(fact, UnknownFact):
            state = replace(state, unknown=(*state.unknown, fact.type))
            continue
        state = _stepped(state, fact, actor, Moment(commit, event.ts))
    return state


def _stepped(state: State, fact: Event, actor: str, moment: Moment) -> State:
    state = replace(state, moment=moment)
    if isinstance(fact, BotStarted):
        return replace(state, bots=state.bots | {actor})
    return fact.change(state)


def _shown(before: State, after: State) -> Iterator[tuple[bytes, Kind]]:
    """Give what grite's readers are shown of a change."""
    if after.bots and not before.bots:
        created = IssueCreated("brat", "What concerns the whole repository.", ())
        yield ids.repository_issue(), created
    yield from _births(before, after)
    yield from _moves(before, after)


def _births(before: State, after: State) -> Iterator[tuple[bytes, Kind]]:
    """Give the grite issues that come into being."""
    for convoy in _changed(before, after):
        old = before.convoys.get(convoy.name)
        labels = (
            f"convoy:{convoy.name}",
            f"status:{convoy.state}",
            "type:convoy",
        )
        if old is None:
            title, body = broken_up(convoy.title), broken_up(convoy.text)
            yield ids.convoy_issue(convoy.name), IssueCreated(title, body, labels)
        for task in convoy.tasks[len(old.tasks) if old else 0 :]:
            name = ids.task_issue(convoy.name, task.number)
            labels = (f"convoy:{convoy.name}", f"status:{task.state}", "type:task")
            title = broken_up(task.spec.title)
            body = broken_up(task.spec.instructions)
            yield name, IssueCreated(title, body, labels)


def _moves(before: State, after: State) -> Iterator[tuple[bytes, Kind]]:
    """Give the label and state changes of issues that were there before."""
    for convoy in _changed(before, after):
        old = before.convoys.get(convoy.name)
        if old is None:
            continue
        issue = ids.convoy_issue(convoy.name)
        yield from _move(issue, old.state, convoy.state, closed=convoy.ended)
        for was, task in zip(old.tasks, convoy.tasks, strict=False):
            issue = ids.task_issue(convoy.name, task.number)
            yield from _move(issue, was.state, task.state, closed=task.settled)
        for was in old.tasks[len(convoy.tasks) :]:  # of a plan that was given up
            issue = ids.task_issue(convoy.name, was.number)
            yield from _move(issue, was.state, "dropped", closed=not was.settled)


def _changed(before: State, after: State) -> Iterator[Convoy]:
    for name, convoy in after.convoys.at_hand.items():
        if before.convoys.get(name) is not convoy:
            yield convoy


def _move(
    issue: bytes, was: str, now: str, *, closed: bool
) -> Iterator[tuple[bytes, Kind]]:
    if was == now:
        return
    yield issue, LabelRemoved(f"status:{was}")
    yield issue, LabelAdded(f"status:{now}")
    if closed:
        yield issue, StateChanged("closed")
