"""What must be true whatever happens: each promise of the rules as a check.

`Promises` is told of every fact as it is written, with the state before and after it,
and of every push of a bot; `hold` looks at the whole after each step.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from convoy.events import Event, merge_events, session_events
from convoy.events.hold_events import BranchPushed, BranchTaken
from convoy.events.leases import LeaseTaken
from convoy.events.people_events import ApprovalVoided, ConvoyApproved, TaskApproved
from convoy.events.task_events import (
    ConvoyFailed,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
    TaskQueued,
)
from convoy.kinds import attending, trial
from convoy.model import ids
from convoy.model.records import CAUSES
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import stands_behind
from convoy.rules.turns import turns, unmet
from grite.remote import RefUpdate
from grite.resource import overlaps
from tests.world.model.forge import HEADS, MAIN, QUEUE, Forge, Pull
from tests.world.model.waits import hanging

UNJUDGED: Final = ("none",)
GIVEN_BACK: Final = frozenset({"conflict", "outage", "setup"})
"""Why an attempt that was begun does not count."""


class Promises:
    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self.green: set[str] = set()
        """Commits that CI has ever called green."""
        self.by_hand: set[str] = set()
        """Lines that a person brought in, whosever they are."""
        self.landed: set[tuple[str, int]] = set()
        self._approved: dict[tuple[str, int, str], str] = {}
        """The work that somebody approves, by convoy, task and name."""
        self._reviewed: dict[tuple[str, int], str] = {}
        """The work that a review approves, by convoy and number."""
        self._planned: set[str] = set()
        """Convoys whose plan somebody approved."""
        self._until: dict[tuple[str, str], int] = {}
        """When what a holder took runs out, by resource and holder."""
        self._landing: list[merge_events.MergeLanded | merge_events.SyncLanded] = []
        self._reds: set[tuple[str, str]] = set()
        """The candidates that CI was red on first, by convoy."""
        self._pushed: defaultdict[str, set[str]] = defaultdict(set)
        """What was pushed to a convoy's branch and nobody answers for."""
        self._handed_in: dict[str, str] = {}
        """What sessions left, with the commit it was made on."""

    # --- as it is written -----------------------------------------------------------

    def fact(  # noqa: C901, PLR0912  one arm a kind
        self, before: State, after: State, fact: Event
    ) -> None:
        match fact:
            case session_events.TaskStarted():
                self._started(before, after, fact)
            case BranchPushed():
                self._pushed[fact.convoy].add(fact.commit)
            case BranchTaken():
                held = self.forge.commits[fact.commit].ancestors
                self._pushed[fact.convoy] -= held
            case LeaseTaken():
                self._taken(before, fact)
            case session_events.WorkAccepted():
                self._accepted(before, fact)
            case session_events.WorkRefused():
                self._refused(fact)
            case session_events.ChoiceMade():
                self._chosen(before, fact)
            case session_events.WorkReviewed(verdict="approve"):
                self._reviewed[fact.convoy, fact.task] = fact.commit
            case merge_events.MergeDoubted(is_red=True):
                self._reds.add((fact.convoy, fact.candidate))
            case merge_events.MergeFailed(candidate=str()):
                self._blamed(before, fact)
            case merge_events.MergeLanded():
                self._landed(before, fact)
            case merge_events.SyncLanded(task=0):
                self._synced(before, fact)
            case TaskMerged():
                convoy = before.convoys[fact.convoy]
                task = convoy.task(fact.task)
                assert task is None or _has_what_it_needs(convoy, task)
            case ConvoyApproved() | TaskApproved() | ApprovalVoided():
                self._vouched(before, fact)
            case TaskQueued():
                self._queued(before, after, fact)
            case TaskBlocked() | ConvoyFailed() | TaskDropped():
                assert fact.why, "stopped without a reason"
            case _:
                pass

    def _queued(self, before: State, after: State, fact: TaskQueued) -> None:
        """Check that nobody pays for what others did, and that all of it is bounded."""
        convoy = before.convoys[fact.convoy]
        was = convoy.in_session(fact.task)
        now = after.convoys[fact.convoy].in_session(fact.task)
        assert was is not None
        assert now is not None
        if not CAUSES[fact.cause].costs:
            assert now.spent <= max(0, was.spent - (fact.cause in GIVEN_BACK)), (
                "charged"
            )
        assert now.conflicts <= convoy.settings.rounds, "conflicts without end"

    def _chosen(self, before: State, fact: session_events.ChoiceMade) -> None:
        convoy, choice = _told_of(before, fact)
        winner = convoy.task(fact.on)
        assert winner is not None
        assert not choice.chosen, "chosen twice"
        assert winner.number in choice.spec.on
        assert winner.state == "needs-review"
        assert winner.work is not None
        assert winner.work.commit == fact.commit
        files = self.forge.commits[fact.commit].files
        known = (self.forge.commits[commit].files for commit in self.green)
        assert files in known, "chosen, never green"

    def _blamed(self, before: State, fact: merge_events.MergeFailed) -> None:
        """Check that CI was red on it before, and is red on it alone on the tip."""
        convoy, task = _told_of(before, fact)
        if trial(convoy, task) is not None:
            return
        tip = self.forge.refs[HEADS + ids.base_branch(convoy.name)]
        assert task.is_suspect, "blamed at once"
        assert task.candidate is not None
        assert task.candidate.commit == fact.candidate, "not the candidate"
        assert (fact.convoy, fact.candidate) not in self._reds, "the same run twice"
        real = self.forge.commits.contains(tip, task.candidate.base)
        assert real, "blamed on what the branch does not hold"

    def _vouched(
        self, before: State, fact: ConvoyApproved | TaskApproved | ApprovalVoided
    ) -> None:
        if isinstance(fact, ConvoyApproved):
            self._planned.add(fact.convoy)
            return
        _, task = _told_of(before, fact)
        assert task.work is not None
        key = (fact.convoy, fact.task, fact.by)
        counts = isinstance(fact, TaskApproved)
        self._approved[key] = task.work.commit if counts else ""

    def _started(
        self, before: State, after: State, fact: session_events.TaskStarted
    ) -> None:
        convoy, task = _told_of(before, fact)
        assert convoy.state == "active", "started while the convoy is not active"
        assert not convoy.held, "started while a label holds it"
        approved = convoy.settings.approve == "auto" or convoy.name in self._planned
        assert approved, "started on a plan that nobody approved"
        assert unmet(convoy, task) == (), "started before what it needs"
        assert task.attempt is None, "two sessions of one task"
        first = turns(convoy).get(task.number, ())
        onto = fact.resolves.tip if fact.resolves else fact.base
        early = stands_behind(convoy, task, first, onto)
        assert not first or early, "started before its turn"
        for number in task.spec.after:
            needed = convoy.task(number)
            assert needed is not None
            looks = task.spec.kind == "review"  # at work as it is
            if needed.landed and task.earlier is None and not looks:
                assert self.forge.commits.contains(fact.base, needed.landed)
        sessions = [t.spec.engine for _, t in after.running() if not self._is_over(t)]
        assert len(sessions) <= convoy.settings.max_sessions, "slots overshot"
        slots = convoy.settings.engines[task.spec.engine].max_sessions
        assert sessions.count(task.spec.engine) <= slots, "an engine's slots overshot"

    def _is_over(self, task: Task) -> bool:
        """Whether a task is set aside that never began, or whose session has ended."""
        run = self.forge.runs.get((task.attempt and task.attempt.run) or 0)
        if run is not None:
            return task.set_aside is not None and run.completed
        return task.waits_aside

    def _taken(self, before: State, fact: LeaseTaken) -> None:
        for lease in before.leases.values():
            mine = lease.holder == fact.holder
            assert mine or not overlaps(lease.resource, fact.resource), "held twice"
        self._until[fact.resource, fact.holder] = fact.expires

    def _accepted(self, before: State, fact: session_events.WorkAccepted) -> None:
        _, task = _told_of(before, fact)
        assert task.attempt is not None
        assert task.attempt.number == fact.attempt == task.started, "superseded"
        self._handed_in[fact.commit] = fact.base

    def _refused(self, fact: session_events.WorkRefused) -> None:
        session = ids.session_name(fact.convoy, fact.task, fact.attempt)
        for run in self.forge.runs.values():
            if run.session == session and run.result.commit:
                self._handed_in[run.result.commit] = run.started.base

    def _landed(self, before: State, fact: merge_events.MergeLanded) -> None:
        convoy = before.convoys[fact.convoy]
        task = convoy.task(fact.task)
        candidate = task.candidate if task else convoy.candidate
        if self._was_merged(fact):
            self._merged(before.convoys[fact.convoy], fact)
            return
        assert candidate is not None
        assert candidate.commit == fact.candidate, "not the candidate"
        assert (fact.convoy, fact.task) not in self.landed, "landed twice"
        self.landed.add((fact.convoy, fact.task))
        if convoy.settings.require_ci:
            assert fact.judged, "landed unjudged"
            assert fact.judged != UNJUDGED
            assert set(convoy.settings.checks) <= set(fact.judged)
            assert fact.candidate in self.green, "landed and never green"
        else:
            assert fact.judged == UNJUDGED
        part = task or convoy
        self._nobody_else_pushed(convoy, fact.candidate)
        assert not convoy.held, "landed and held"
        assert not part.held, "landed and held"
        self._nobody_said_no(convoy, part)
        if task is not None:
            self._task_landed(convoy, task, fact)
        self._landing.append(fact)

    def _nobody_else_pushed(self, convoy: Convoy, candidate: str) -> None:
        """Check that what lands holds no push to its branch that nobody answers for."""
        commits = self.forge.commits
        on_target = commits[self.forge.refs[MAIN]].ancestors
        held = commits[candidate].ancestors - on_target
        assert not held & self._pushed[convoy.name], "landed what nobody answers for"

    def _task_landed(
        self, convoy: Convoy, task: Task, fact: merge_events.MergeLanded
    ) -> None:
        assert task.work is not None
        assert task.candidate is not None
        approved = [
            self._approved.get((fact.convoy, fact.task, by)) == task.work.commit
            for by in task.approved_by
        ]
        reviews = (t for t, _ in attending(convoy, task) if t.spec.kind == "review")
        for review in reviews:
            seen = self._reviewed.get((fact.convoy, review.number))
            assert seen == task.work.commit, "landed unreviewed"
        assert task.spec.kind in ("work", "rival", "sync"), "landed, and is no work"
        assert trial(convoy, task) is None, "landed, and was not chosen"
        assert sum(approved) >= convoy.settings.approvals, "landed unapproved"
        assert task.candidate.work == task.work.commit
        assert task.work.attempt == task.started, "a superseded attempt landed"

    def _was_merged(self, fact: merge_events.MergeLanded) -> bool:
        """Whether the forge or a person merged the convoy's pull request."""
        return fact.task == 0 and (MAIN, fact.candidate) in self.forge.foreign

    def _merged(self, convoy: Convoy, fact: merge_events.MergeLanded) -> None:
        """Check what the log says of a merge that was the forge's."""
        commits = self.forge.commits
        assert (fact.convoy, 0) not in self.landed, "landed twice"
        self.landed.add((fact.convoy, 0))
        if convoy.settings.require_ci and fact.judged:
            files = commits[fact.candidate].files
            known = (commits[commit].files for commit in self.green)
            assert files in known, "said to be judged, and was not"
        assert commits.contains(self.forge.refs[MAIN], fact.candidate)

    def _nobody_said_no(self, convoy: Convoy, part: Convoy | Task) -> None:
        """Check that what lands was not closed or moved by a person's hands."""
        assert not part.withdrawn, "landed and withdrawn"
        assert part.taken_out is None, "landed and taken out"
        shut = {p.number for p in self.forge.pulls if p.state == "shut" or p.moved_to}
        assert part.pull not in shut, "landed, and its pull request was closed"
        issue = convoy.issue_is == "overruled" or convoy.issue not in self.forge.closed
        assert issue, "landed, and its issue was closed"

    def _synced(self, before: State, fact: merge_events.SyncLanded) -> None:
        convoy = before.convoys[fact.convoy]
        candidate = convoy.sync.candidate
        assert candidate is not None
        assert candidate.commit == fact.candidate, "not the candidate"
        assert not convoy.held, "landed and held"
        if convoy.settings.require_ci:
            assert fact.candidate in self.green, "landed and never green"
        commits = self.forge.commits
        assert commits.contains(fact.candidate, fact.target), "without the target"
        self._landing.append(fact)

    # --- each push ------------------------------------------------------------------

    def pushed(self, before: Mapping[str, str], updates: Sequence[RefUpdate]) -> None:
        forge, state = self.forge, self.forge.state
        convoys = state.convoys.values()
        shared = {HEADS + ids.base_branch(each.name): each.state for each in convoys}
        shared[MAIN] = "active"
        moved = {update.ref: update.new for update in updates}
        landed = {HEADS + fact.branch: fact.candidate for fact in self._landing}
        for ref in shared.keys() & moved.keys():
            new, old = moved[ref], before.get(ref)
            if new is None:
                assert shared[ref] == "complete", "a shared branch was deleted"
                continue
            if old is not None:
                assert forge.commits.contains(new, old), f"{ref} went back"
                if ref not in landed and self._is_aligned(ref, new):
                    continue
                assert ref in landed, f"{ref} moved and nothing landed"
                assert landed[ref] == new, "not the judged commit"
        for fact in self._landing:
            if isinstance(fact, merge_events.MergeLanded):
                self._arrived(before, fact)
        self._landing.clear()
        self._kept()

    def _is_aligned(self, ref: str, new: str) -> bool:
        """Whether a convoy's branch moved to its own candidate, which CI judged."""
        branches = {
            HEADS + ids.base_branch(convoy.name): convoy
            for convoy in self.forge.state.live()
        }
        convoy = branches.get(ref)
        candidate = convoy.candidate if convoy else None
        if convoy is None or candidate is None or candidate.commit != new:
            return False
        return new in self.green or not convoy.settings.require_ci

    def _arrived(
        self, before: Mapping[str, str], fact: merge_events.MergeLanded
    ) -> None:
        """Check that the landed commit is there, shows, and holds what it should."""
        forge = self.forge
        convoy = forge.state.convoys[fact.convoy]
        tip = forge.refs[HEADS + fact.branch]
        assert forge.commits.contains(tip, fact.candidate)
        lines = forge.commits[fact.candidate].lines
        task = convoy.task(fact.task)
        merged = [t for t in convoy.tasks if t.landed]
        if task is None:
            assert all(lines >= self._lines_of(t) for t in merged), "left out"
            for t in merged:
                assert t.landed is not None
                assert forge.commits.contains(tip, t.landed)
        else:
            assert lines >= self._lines_of(task), "without its work"
            is_moved = fact.candidate != before.get(HEADS + fact.branch)
            ci_files = task.work.ci_files if task.work else ()
            if is_moved and (task.pull or convoy.shows_work(ci_files)):
                assert self._shows_merged(fact), "its pull request is not merged"
        self._holds_nothing_else(convoy, lines)

    def _lines_of(self, task: Task) -> frozenset[str]:
        assert task.work is not None
        commits = self.forge.commits
        return commits[task.work.commit].lines - commits[task.work.base].lines

    def _shows_merged(self, fact: merge_events.MergeLanded) -> bool:
        head = ids.task_branch(fact.convoy, fact.task)
        shown = [pull.state for pull in self.forge.pulls if pull.head == head]
        return bool({"merged", "orphan"} & {*shown})

    def _holds_nothing_else(self, convoy: Convoy, lines: frozenset[str]) -> None:
        for line in lines - self.by_hand:
            name, _, session = line.partition(":")
            if name != "work":
                continue
            owner, number, _ = ids.parse_session(session)
            task = self.forge.state.convoys[owner].task(number)
            whole = self.forge.state.convoys[owner].state == "complete"
            own = ids.base_branch(owner)  # the log may not know yet
            whole |= any(
                p.head == own and p.state == "merged" for p in self.forge.pulls
            )
            beside = task is not None and task.landed is None  # as tests with code
            assert whole or beside or owner == convoy.name, (
                f"{line} is of another convoy"
            )
            assert task is not None
            assert task.state == "merged", f"{line} is not merged, and landed"
            assert task.work is not None
            current = self.forge.commits[task.work.commit].lines
            assert line in current, f"{line} was superseded, and landed"

    def _kept(self) -> None:
        """Check that no work that was handed in has become unreachable."""
        commits, refs = self.forge.commits, self.forge.refs
        tips = [
            commits[commit].ancestors
            for ref, commit in refs.items()
            if commit in commits.known and not ref.startswith(QUEUE)
        ]
        reachable = frozenset().union(*tips)
        for commit in self._handed_in.keys() - reachable:  # rebased since, or lost
            work = commits[commit].lines - commits[self._handed_in[commit]].lines
            kept = any(work <= commits[other].lines for other in reachable)
            assert kept, f"{commit} is lost"

    # --- after each step ------------------------------------------------------------

    def hold(self) -> None:
        """Check everything that is true of a state and of a forge at any time."""
        state = self.forge.state
        for convoy in state.convoys.values():
            assert convoy.state != "failed" or convoy.why
            for task in convoy.tasks:
                _holds_for(convoy, task)
        assert not (hung := [*hanging(state)]), hung
        self._leases_hold(state)
        self._pushes_are_kept()
        self._once_each()
        self._runs_hold(state)

    def _pushes_are_kept(self) -> None:
        places = (ids.HEADS, "refs/grite/attempts/")
        tips = {tip for ref, tip in self.forge.refs.items() if ref.startswith(places)}
        ancestors = (self.forge.commits[tip].ancestors for tip in tips)
        found: frozenset[str] = frozenset().union(*ancestors)
        for pushed in self._pushed.values():
            assert pushed <= found, "what somebody pushed is lost"

    def _leases_hold(self, state: State) -> None:
        sessions = _sessions(state)
        for lease in state.leases.values():
            mine = lease.holder in {*sessions, "ann"}
            assert mine, f"{lease.holder} is over and holds"
        now = self.forge.now
        self._until = {key: until for key, until in self._until.items() if until > now}
        for resource, holder in self._until:
            if holder in sessions:
                assert resource in state.leases, f"{holder} lost {resource}"
        for one, other in combinations(state.leases.values(), 2):
            mine = one.holder == other.holder
            assert mine or not overlaps(one.resource, other.resource), "held twice"

    def _runs_hold(self, state: State) -> None:
        sessions = _sessions(state)
        for run in self.forge.runs.values():
            assert run.completed or run.session in sessions, "over, and runs on"

    def _once_each(self) -> None:
        """Check that nothing is on the forge twice.

        Somebody may merge a convoy's pull request early: the rest gets another one.
        """
        forge = self.forge
        heads = Counter(
            pull.head
            for pull in forge.pulls
            if (pull.state, pull.base) != ("merged", "main")
            and not self._is_of_older_work(pull)  # no forge opens it again
        )
        sessions = Counter(r.session for r in forge.runs.values() if not r.deleted)
        comments = Counter(
            key for _, body in forge.comments.values() for key in ids.keys_in(body)
        )
        for what in (heads, sessions, comments):
            assert max(what.values(), default=1) == 1, what

    def _is_of_older_work(self, pull: Pull) -> bool:
        """Whether a person merged it, and its branch has come to hold more since."""
        refs, commits = self.forge.refs, self.forge.commits
        if (HEADS + pull.base, pull.merged_as) not in self.forge.foreign:
            return False
        tip = refs.get(HEADS + pull.head)
        return tip is None or not commits[tip].lines <= commits[pull.merged_as].lines


def _told_of(before: State, fact: Any) -> tuple[Convoy, Task]:  # noqa: ANN401  of a task
    convoy = before.convoys[fact.convoy]
    task = convoy.task(fact.task)
    assert task is not None
    return convoy, task


def _sessions(state: State) -> set[str]:
    return {
        ids.session_name(convoy.name, task.number, task.started)
        for convoy, task in state.running()
    }


def _has_what_it_needs(convoy: Convoy, task: Task) -> bool:
    """Whether all that it needs is merged; a review of nothing looked at nothing."""
    return unmet(convoy, task) == () or bool(task.spec.on and not task.started)


def _holds_for(convoy: Convoy, task: Task) -> None:
    assert 0 <= task.spent <= convoy.settings.attempts, "tried too often"
    assert task.spent <= task.started
    assert task.conflicts <= convoy.settings.rounds, "its work conflicted too often"
    match task.state:
        case "running":
            assert task.attempt is not None
        case "needs-review":
            assert task.work is not None
        case "blocked" | "dropped":
            assert task.why, f"{task.state} without a reason"
        case "merged":
            assert _has_what_it_needs(convoy, task)
        case "queued":
            pass
    if task.candidate is not None:
        assert task.state == "needs-review", "a candidate of no work"
