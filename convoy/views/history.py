"""The log told to people: a line an event, and what became of sessions. Pure.

Sessions, changes and people's decisions are read event by event, so that who has the
log reads on where it stopped.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from convoy.events import Claim, Event
from convoy.events.forge_actions import ActionDone, ActionIntended, AnswerShown
from convoy.events.hold_events import MergeRequested, MergeWithdrawn, WorkTakenBack
from convoy.events.merge_events import (
    MergeAttempted,
    MergeDoubted,
    MergeFailed,
    MergeLanded,
)
from convoy.events.people_events import ConvoyApproved
from convoy.events.plan_events import ConvoyPlanned, ConvoyRanked
from convoy.events.session_events import (
    ChoiceMade,
    SessionLost,
    TaskStarted,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.events.task_events import TaskBlocked, TaskDropped, TaskMerged, TaskQueued
from convoy.log.record import fact_of
from convoy.model import ids
from convoy.model.records import Usage
from convoy.text import clock, spoken_duration
from grite.entry import Entry
from grite.event import CommentAdded

_Kept = TypeVar("_Kept")


class LogLine(Struct, frozen=True):
    """What one event says, or one thing that is wrong with the log."""

    at: int
    """Unix ms."""
    actor: str
    """Hex; empty for a fault."""
    convoy: str
    """Empty: it is about none."""
    text: str
    kind: str = ""
    """One of `LINE_KINDS`; empty: it is about the log itself."""
    task: int = 0
    """0: it is about none."""
    by: str = ""
    """The person who decided it; empty: nobody did."""


LINE_KINDS: Final = {
    "people_events": "decisions",
    "plan_events": "plan",
    "task_events": "tasks",
    "session_events": "sessions",
    "merge_events": "landing",
    "hold_events": "landing",
    "forge_actions": "forge",
    "leases": "locks",
}
"""What people call the events of each module of `convoy.events`."""


def log_lines(entries: list[Entry]) -> Iterator[LogLine]:
    """Give a line for each brat event, fault and foreign commit, in the log's order."""
    for one in entries:
        if one.is_foreign:
            said = f"commit {one.commit[:10]} does not count: no allowed key signed it"
            yield LogLine(one.at_ms, "", "", said)
        for event in one.events:
            body = event.kind.body if isinstance(event.kind, CommentAdded) else ""
            fact = fact_of(body)
            if isinstance(fact, Event | Claim):
                yield LogLine(
                    event.ts,
                    event.actor.hex(),
                    str(getattr(fact, "convoy", "")),
                    body.partition("\n")[0],
                    LINE_KINDS.get(type(fact).__module__.rpartition(".")[2], ""),
                    int(getattr(fact, "task", 0)),
                    str(getattr(fact, "by", "")),
                )
        for fault in one.faults:
            yield LogLine(one.at_ms, "", "", f"fault in {one.commit[:10]}: {fault}")


def bot_facts(
    entries: Iterable[Entry], bots: frozenset[str]
) -> Iterator[tuple[int, Event]]:
    """Give what bots wrote, with its time (unix ms), in the log's order."""
    for one in entries:
        for event in one.events:
            if isinstance(event.kind, CommentAdded) and event.actor.hex() in bots:
                fact = fact_of(event.kind.body)
                if isinstance(fact, Event):
                    yield event.ts, fact


def last_lines(newest_first: Iterable[Entry], number: int) -> tuple[LogLine, ...]:
    """Return the log's last lines, oldest first; takes no more than it needs."""
    found: list[LogLine] = []
    for one in newest_first:
        found[:0] = log_lines([one])
        if len(found) >= number:
            break
    return tuple(found[max(0, len(found) - number) :])


How = Literal["running", "handed in", "landed", "sent back", "refused", "lost"]
"""`handed in`: the gate let its work through, and it has not landed yet."""


class PastSession(Struct, frozen=True, kw_only=True):
    """One session, from its start to what became of its work."""

    task: int
    """0: it planned."""
    attempt: int
    engine: str
    """What kind of agent CLI."""
    begun: int
    """Unix ms."""
    queued: int = 0
    """When its task began to wait for it, unix ms; 0: unknown."""
    run: int = 0
    """The workflow run; 0: it is not known."""
    ended: int = 0
    """Unix ms; 0: it runs."""
    offered: int = 0
    """When CI was first asked to judge its work, unix ms; 0: it was not."""
    landed: int = 0
    """Unix ms; 0: its work has not landed."""
    back: int = 0
    """When its work was sent back, unix ms; 0: it was not."""
    commit: str = ""
    """The work that it handed in; empty: none."""
    base: str = ""
    """The commit that its work is measured from."""
    files: tuple[str, ...] = ()
    acceptance: str = ""
    """The command that had to accept its work; empty: none."""
    walls: tuple[str, ...] | None = None
    """The walls of its box that it did not claim; None: it handed nothing in."""
    how: How = "running"
    why: str = ""
    """Why its work did not land."""
    judged: tuple[str, ...] = ()
    """The checks that judged what landed."""
    usage: Usage = Usage()

    @property
    def took_s(self) -> float:
        """How long it took, in seconds; 0 while it runs."""
        return max(0, self.ended - self.begun) / 1000 if self.ended else 0.0


_DISPATCH: Final = ids.key("dispatch", "")
CONVOYS_KEPT: Final = 100
"""Of so many convoys sessions and decisions are kept: those with the last of these."""


def _newest(kept: dict[str, _Kept], name: str, made: Callable[[], _Kept]) -> _Kept:
    """Return what is kept of a convoy, which is the newest now; the oldest goes."""
    found = kept[name] = kept.pop(name) if name in kept else made()
    if len(kept) > CONVOYS_KEPT:
        del kept[next(iter(kept))]
    return found


class _Sessions:
    """The sessions of one convoy, in the order in which they began."""

    def __init__(self) -> None:
        self.by_attempt: dict[tuple[int, int], PastSession] = {}
        self._newest: dict[int, tuple[int, int]] = {}
        self._queued: dict[int, int] = {}

    def read(self, at: int, fact: Event) -> None:
        if isinstance(fact, TaskQueued):
            self._queued[fact.task] = at
        if isinstance(fact, TaskStarted):
            key = self._newest[fact.task] = (fact.task, fact.attempt)
            self.by_attempt[key] = PastSession(
                task=fact.task,
                attempt=fact.attempt,
                engine=fact.engine.type,
                begun=at,
                queued=self._queued.get(fact.task, 0),
                acceptance=fact.acceptance,
            )
        elif known := self._newest.get(getattr(fact, "task", -1)):
            self.by_attempt[known] = _after(self.by_attempt[known], at, fact)


class SessionHistory:
    """The sessions of the newest convoys of a log, as far as it was read."""

    def __init__(self) -> None:
        self._convoys: dict[str, _Sessions] = {}

    def read(self, at: int, fact: Event) -> None:
        """Go on with the bots' next event and its time (unix ms)."""
        name = getattr(fact, "convoy", "")
        if isinstance(fact, ActionDone) and fact.key.startswith(_DISPATCH):
            self._ran(fact.key, fact.number)
        if isinstance(fact, TaskStarted):
            _newest(self._convoys, name, _Sessions)
        if name in self._convoys:
            self._convoys[name].read(at, fact)

    def _ran(self, key: str, run: int) -> None:
        """Note the workflow run of a session that was dispatched."""
        try:
            name, task, attempt = ids.parse_session(key.removeprefix(_DISPATCH))
        except ValueError:
            return
        known = self._convoys[name].by_attempt if name in self._convoys else {}
        if (task, attempt) in known:
            known[task, attempt] = replace(known[task, attempt], run=run)

    def of(self, convoy: str) -> tuple[PastSession, ...]:
        """Return a convoy's sessions; none of one that is too old to be kept."""
        found = self._convoys.get(convoy)
        return tuple(found.by_attempt.values()) if found else ()


def past_sessions(
    convoy: str, facts: Iterable[tuple[int, Event]]
) -> tuple[PastSession, ...]:
    """Return a convoy's sessions in the order in which they began.

    The facts are those of the whole log with their times (unix ms).
    """
    history = SessionHistory()
    for at, fact in facts:
        if getattr(fact, "convoy", "") == convoy or isinstance(fact, ActionDone):
            history.read(at, fact)
    return history.of(convoy)


def _after(one: PastSession, at: int, fact: Event) -> PastSession:
    match fact:
        case WorkAccepted():
            return replace(
                one,
                ended=at,
                how="handed in",
                usage=fact.usage,
                commit=fact.commit,
                base=fact.base,
                files=fact.files,
                walls=fact.missing_walls,
            )
        case MergeAttempted() if one.how == "handed in" and not one.offered:
            return replace(one, offered=at)
        case WorkRefused() | SessionLost():
            how: How = "refused" if isinstance(fact, WorkRefused) else "lost"
            return replace(one, ended=at, how=how, why=fact.why, usage=fact.usage)
        case TaskQueued() | TaskBlocked(cause=str()) if one.how == "handed in":
            return replace(one, how="sent back", why=fact.why, back=at)
        case MergeLanded() if one.task:  # of task 0 it is the convoy's
            return replace(one, how="landed", landed=at, judged=fact.judged)
        case WorkReviewed() | ChoiceMade() if fact.attempt:
            return replace(one, ended=at, how="handed in", usage=fact.usage)
        case TaskMerged(commit=None) if one.ended:  # a review, with what it looked at
            return replace(one, how="landed", landed=at)
        case TaskMerged(commit=None):
            return replace(one, ended=at, how="landed", landed=at, usage=fact.usage)
        case _:
            return one


def attempt_story(sessions: Iterable[PastSession], task: int) -> Iterator[str]:
    """Yield a sentence without a full stop for each attempt at a task, in order."""
    for one in sessions:
        if one.task != task:
            continue
        took = f" and ran for {spoken_duration(round(one.took_s))}" if one.ended else ""
        landed = f" at {clock(one.landed)}" if one.landed else ""
        judged = f", tested by {', '.join(one.judged)}" if one.judged else ""
        why = one.why.partition("\n\n")[0]
        was = "was " if one.how in ("sent back", "refused", "lost") else ""
        told = {"running": "is running", "handed in": "handed in its result"}
        how = told.get(one.how, f"{was}{one.how}")
        yield (
            f"attempt {one.attempt} by {one.engine} began at {clock(one.begun)}{took}: "
            f"it {how}{landed}{judged}{': ' if why else ''}{why}"
        )


End = Literal["", "landed", "done", "dropped"]
"""What became of a task; empty: it goes on; `done`: it ended without a commit."""


class Change(Struct, kw_only=True):
    """One task, from its plan to its end."""

    kind: str = ""
    engine: str = ""
    """The kind of agent CLI that worked on it last."""
    planned: int = 0
    """Unix ms, as are the next four; 0: not yet."""
    started: int = 0
    """When its first session began."""
    accepted: int = 0
    """When the gate let its work through last."""
    ended: int = 0
    blocked: int = 0
    """When it began to wait for a person; 0: it does not."""
    sessions: int = 0
    ci_runs: int = 0
    """How many candidates CI was asked to judge."""
    ci_ms: int = 0
    """How long it took to judge them; a candidate that was rebuilt counts too."""
    offered: int = 0
    """When the candidate was built that CI judges now; 0: there is none."""
    usage: Usage = Usage()
    rework: list[str] = field(default_factory=list)
    """Why it went back to the queue, each time."""
    end: End = ""


class Spent(Struct, frozen=True):
    at: int
    """Unix ms."""
    engine: str
    """What kind of agent CLI."""
    usage: Usage


_JUDGED: Final = (MergeAttempted, MergeDoubted, MergeFailed, MergeLanded)


class ChangeHistory:
    """The changes of a log, as far as it was read. Not for several threads at once."""

    def __init__(self) -> None:
        self.changes: dict[tuple[str, int], Change] = {}
        """By convoy and number."""
        self.asked = defaultdict[str, list[int]](list)
        """How long people took to answer, in milliseconds, by what they were asked."""
        self.spent: list[Spent] = []
        self.reds = Counter[str]()
        """How often a check that was red had work judged again."""
        self._plans: dict[str, int] = {}
        """When plans were written that nobody has approved yet."""

    def read(self, at: int, fact: Event) -> None:
        name, number = getattr(fact, "convoy", ""), getattr(fact, "task", 0)
        if isinstance(fact, ConvoyPlanned):
            self._plans[name] = at
            for spec in fact.tasks:
                self.changes[name, spec.number] = Change(kind=spec.kind, planned=at)
        elif isinstance(fact, ConvoyApproved):
            if since := self._plans.pop(name, 0):
                self.asked["plan"].append(at - since)
        elif name and number:
            change = self.changes.setdefault((name, number), Change())
            if isinstance(fact, _JUDGED) and change.offered:
                change.ci_ms += at - change.offered
                change.offered = 0
            self._task(change, at, fact)

    def _answered(self, change: Change, at: int) -> None:
        if change.blocked:
            self.asked["blocked task"].append(at - change.blocked)
            change.blocked = 0

    def _session_ended(self, change: Change, at: int, usage: Usage) -> None:
        self.spent.append(Spent(at, change.engine, usage))
        change.usage += usage

    def _task(self, change: Change, at: int, fact: Event) -> None:
        match fact:
            case TaskQueued() if fact.cause != "planned":
                self._answered(change, at)
                change.rework.append(fact.cause)
            case TaskBlocked():
                change.blocked = at
            case TaskStarted():
                change.started = change.started or at
                change.sessions += 1
                change.kind, change.engine = fact.kind, fact.engine.type
            case WorkAccepted() | WorkReviewed() | ChoiceMade():
                change.accepted = at
                self._session_ended(change, at, fact.usage)
            case WorkRefused() | SessionLost():
                self._session_ended(change, at, fact.usage)
            case MergeAttempted():
                change.ci_runs += 1
                change.offered = at
            case MergeDoubted(is_red=True):
                self.reds.update(fact.checks)
            case MergeLanded():
                change.ended, change.end = at, "landed"
            case TaskMerged(commit=None) if not change.end:
                change.ended, change.end = at, "done"
                self._session_ended(change, at, fact.usage)
            case TaskDropped():
                self._answered(change, at)
                change.ended, change.end = at, "dropped"
            case _:
                pass


MOST_DECISIONS: Final = 100
"""So many decisions are kept of a convoy, the newest."""
_NO_DECISION: Final = (ActionIntended, AnswerShown)
MAINTAIN: Final = (MergeRequested, MergeWithdrawn, WorkTakenBack, ConvoyRanked)
"""What takes the right to maintain, as the verb table says; all else takes at least the
right to write."""


class PersonDecision(Struct, frozen=True):
    at: int
    """Unix ms."""
    by: str
    right: str
    """The least right that the forge confirmed when it was carried out."""
    what: str
    """A sentence."""


class DecisionHistory:
    def __init__(self) -> None:
        self._convoys: dict[str, deque[PersonDecision]] = {}

    def read(self, at: int, fact: Event) -> None:
        name, by = getattr(fact, "convoy", ""), ""
        if isinstance(fact, TaskQueued | TaskBlocked | TaskDropped):
            by = fact.wanted_by
        if not by and not isinstance(fact, _NO_DECISION):
            said = (getattr(fact, each, "") for each in ("by", "person"))
            by = next((each for each in said if isinstance(each, str) and each), "")
        if name and by and " " not in by:  # as in "the refinery"; no account has one
            known = _newest(self._convoys, name, partial(deque, maxlen=MOST_DECISIONS))
            right = "maintain" if isinstance(fact, MAINTAIN) else "write"
            known.append(PersonDecision(at, by, right, fact.sentence()))

    def of(self, convoy: str) -> tuple[PersonDecision, ...]:
        """Return the decisions in a convoy, the newest first."""
        return tuple(reversed(self._convoys.get(convoy, ())))
