"""May it land? The queue of changes, and the commands that build, judge and land them.

A task's work goes this way: it waits while somebody or something keeps it back
(`kept_from_landing`), stands in the queue (`waiting_to_merge`), has a candidate in the
chain (`chain`), and lands when that is the front and judged by all that must
(`is_judged`).

The chain: each task's candidate stands on the branch's tip or on the candidate ahead of
it; in front of all there may be one that takes the target in. A link whose base or work
has changed is broken; it and all behind it are built again.

Red work leaves the chain and is judged once more, alone on the branch's tip. Red there,
too, its task is to blame and gets it back. Green there, the red came from its company,
or by chance: it lands. On what is green, the candidate on top of it judged it, too: red
alike, that was the second time.

The target is taken in while nothing else of the convoy is being judged: a merge in
front would make CI judge all that waits once more. So tasks never wait for a busy
target, only for a merge that is already being judged; and at most one is tried in
`Patience.sync_s`. Once all tasks are settled nothing waits, and it is done at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from convoy import kinds
from convoy.events import Events, Refusal, TaskCommand, copied
from convoy.events.merge_events import (
    MergeAttempted,
    MergeCleared,
    MergeDoubted,
    MergeFailed,
    MergeLanded,
    SyncLanded,
    TestsProven,
    WorkProven,
)
from convoy.events.people_events import lacking_approvals
from convoy.events.task_events import TaskBlocked, TaskMerged
from convoy.kinds import kind_of, trial
from convoy.model import ids
from convoy.model.records import Cause, Settings, Strategy
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Candidate, TargetSync
from convoy.rules import completed, convoy_next, holds_own_work, pull_due
from convoy.rules.observed import Observed
from convoy.rules.retries import queued_again
from convoy.rules.turns import sync_task, turns, unmet
from convoy.rules.verdict import Checks

JUDGED_BY_NONE: Final = ("none",)
"""What a landing notes as its checks if CI is not required."""


def foreign_tip(
    convoy: Convoy, refs: Mapping[str, str], task: Task | None = None
) -> str:
    """Return the tip of a branch, if the log did not put it there; else empty.

    It is a task's branch, or the shared one. The push that moves it carries the event
    that says so: no crash is between.
    """
    number = task.number if task else 0
    tip = refs.get(ids.HEADS + ids.branch_of(convoy.name, number), "")
    if task:
        is_known = not task.tips or tip in task.tips or task.settled
    else:
        is_known = tip in convoy.tips or convoy.base_is != "there"
    return "" if is_known or convoy.state not in ("active", "paused") else tip


def own_tip(convoy: Convoy, refs: Mapping[str, str]) -> str | None:
    """Return the commit that a convoy's work stands at; None: it has none yet.

    A given pull request has no branch of the convoy's: what was given counts, or what
    of the convoy's own its branch was moved to.
    """
    given = convoy.lands_given
    if given is None:
        return refs.get(ids.HEADS + ids.base_branch(convoy.name))
    tip = refs.get(ids.HEADS + given.branch, "")
    return tip if tip in convoy.tips else given.head


def given_onto(convoy: Convoy, tip: str, given: Sequence[Convoy]) -> str:
    """Return the commit a convoy's own candidate stands on; empty: none yet.

    Those `given` into one target stand on each other as tasks do, in the order in which
    they were asked for, where a push lands them: what the forge merges is another
    commit. What was red once is judged alone.
    """
    is_pushed = convoy.landing is None or convoy.landing.way == "push"
    if convoy.lands_given is None or not is_pushed or convoy.sync.judged:
        return tip
    onto, ahead = tip, 0
    for other in sorted(given, key=lambda each: (each.priority, each.requested_at)):
        if other.name == convoy.name:
            return onto if ahead < convoy.settings.max_parallel else ""
        out = other.kept_back or other.sync.stalled
        if other.target != convoy.target or out or other.sync.judged:
            continue
        if other.candidate is None or other.candidate.base != onto:
            return ""
        onto, ahead = other.candidate.commit, ahead + 1
    return onto


def merged_commit(convoy: Convoy, observed: Observed) -> str:
    """Return what the forge, or a person, merged its own pull request as; else empty.

    A merge of anything older than its work does not count.
    """
    pull, tip = convoy.pull or 0, own_tip(convoy, observed.refs)
    heads = {tip} if tip else convoy.tips  # the forge may delete what it has merged
    asked, listed = observed.mergeable.get(pull), observed.pulls.get(pull)
    if asked is not None and asked.merged and asked.head in heads:
        return asked.merged
    is_whole = listed is not None and listed.merged and listed.head in heads
    return (listed.merge_commit or "") if listed and is_whole else ""


def kept_from_landing(convoy: Convoy, task: Task) -> str:
    """Return what must happen before the task may merge; empty: nothing.

    The log alone says so. A wait that ends with time ends by an event, as what is set
    aside does by `ItemTakenUp`.
    """
    return kept_by_people(convoy, task) or kinds.kept_by_tasks(convoy, task)


def kept_by_people(convoy: Convoy, task: Task) -> str:
    """Return what people must do before the task may land; empty: nothing."""
    return convoy.kept_by or task.kept_back or lacking_approvals(convoy, task)


def waiting_to_merge(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks with accepted work that may merge, in the order of the queue.

    What CI judges already is in front, then what was accepted first; of tasks that
    touch the same, each stands behind those whose turn comes first. Suspects stand in
    no queue: what CI found red is judged alone.
    """
    waiting = [task for task in _may_merge(convoy) if not task.is_suspect]
    waiting.sort(
        key=lambda task: (
            (False, task.candidate.since, task.number)
            if task.candidate is not None
            else (True, task.work.at if task.work else 0, task.number)
        )
    )
    first = turns(convoy) if len(convoy.tasks) > 1 and waiting else {}
    queue: dict[int, Task] = {}
    while waiting:
        able = (
            task
            for task in waiting
            if all(turn.on in queue for turn in first.get(task.number, ()))
        )
        if (task := next(able, None)) is None:
            break
        waiting.remove(task)
        queue[task.number] = task
    return tuple(queue.values())


def suspects(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks whose work CI found red and that may merge, as listed."""
    return tuple(task for task in _may_merge(convoy) if task.is_suspect)


def _may_merge(convoy: Convoy) -> Iterator[Task]:
    return (
        task
        for task in convoy.tasks
        if task.state == "needs-review" and not kept_from_landing(convoy, task)
    )


def judged_by(settings: Settings, checks: Checks | None) -> tuple[str, ...]:
    """Return what is noted about the checks that judged a commit."""
    return checks.names if checks and settings.require_ci else JUDGED_BY_NONE


def is_judged(settings: Settings, judged: tuple[str, ...]) -> bool:
    if not settings.require_ci:
        return judged == JUDGED_BY_NONE
    return judged not in ((), JUDGED_BY_NONE) and set(settings.checks) <= set(judged)


def check_judged(convoy: Convoy, commit: str, judged: tuple[str, ...]) -> None:
    if not is_judged(convoy.settings, judged):
        raise Refusal(f"{commit} has not passed all required checks")


def current_candidate(part: Convoy | Task | TargetSync, commit: str) -> Candidate:
    """Return the candidate of a part; refuse what was said of any other commit."""
    candidate = part.candidate
    if candidate is None or candidate.commit != commit:
        raise Refusal(f"{commit} is no longer the candidate")
    return candidate


class Link(Struct, frozen=True):
    """A task whose candidate stands where it should."""

    task: Task
    candidate: Candidate


class Chain(Struct, frozen=True):
    """The unbroken front of the merge queue, and what must be built behind it."""

    links: tuple[Link, ...]
    onto: str
    """The commit the next candidate stands on."""
    unbuilt: tuple[Task, ...]
    """Tasks to build on `onto`, in order, within the window."""


def chain(convoy: Convoy, tip: str) -> Chain:
    """Return the merge queue of `convoy` over the commit its branch stands at."""
    waiting = waiting_to_merge(convoy)[: convoy.settings.max_parallel]
    links: list[Link] = []
    sync = sync_on_tip(convoy, tip)
    onto = sync.commit if sync is not None else tip
    for task in waiting:
        candidate, work = task.candidate, task.work
        if candidate is None or work is None:
            break
        if candidate.base != onto or candidate.work != work.commit:
            break
        links.append(Link(task, candidate))
        onto = candidate.commit
    return Chain(tuple(links), onto, waiting[len(links) :])


def open_candidates(convoy: Convoy) -> Iterator[Candidate]:
    """Return every open candidate of the convoy, including the convoy's own."""
    parts: Iterable[Convoy | Task | TargetSync] = (*convoy.tasks, convoy.sync, convoy)
    return filter(None, (part.candidate for part in parts if not convoy.ended))


HELD_ALREADY: Final = "nothing to do: the branch already has all of its changes"


class AttemptMerge(TaskCommand, frozen=True, kw_only=True):
    candidate: str
    base: str
    work: str
    target: str = ""
    strategy: Strategy | None = None

    def decide(self, state: State) -> Events:
        """Show work, too, that the branch held, and that a person added to since."""
        convoy, pull = self.live(state), Events()
        current = convoy.candidate
        if self.task:
            _, task = self.task_in(state, "needs-review")
            if task.work is None or task.work.commit != self.work:
                raise Refusal(f"the work of task {self.task} has changed")
            is_trial = trial(convoy, task) and self.base == task.work.base
            if not is_trial and (waits := kept_from_landing(convoy, task)):
                raise Refusal(f"task {self.task} is waiting for {waits}")
            if kind_of(task.spec).takes_target_in != bool(self.target):
                raise Refusal(f"task {self.task} lands in a different way")
            current = task.candidate
            pull = pull_due(state, convoy, task, task.work.ci_files)
        elif not convoy.settled:
            raise Refusal(f"{convoy.name} has unfinished tasks")
        offered = (self.candidate, self.base, self.work)
        if current and (current.commit, current.base, current.work) == offered:
            raise Refusal(f"{self.candidate} is already the candidate")
        by_strategy = self.task and not self.target
        strategy = convoy.settings.strategy if by_strategy else "merge"
        strategy = self.strategy or strategy
        return (copied(MergeAttempted, self, strategy=strategy), *pull)


class FailMerge(TaskCommand, frozen=True, kw_only=True):
    candidate: str | None
    cause: Cause
    why: str
    paths: tuple[str, ...] = ()
    only_adds: bool = False

    def decide(self, state: State) -> Events:
        """Send the task back.

        Without a candidate it conflicts; with one, only the current one is blamed.
        """
        convoy, task = self.task_in(state, "needs-review")
        if self.candidate is not None:
            current_candidate(task, self.candidate)
        failed = copied(MergeFailed, self)
        if trial(convoy, task) == "green":  # it was tried among others, and is out
            return (failed, copied(TaskBlocked, self, cause="red"))
        return (failed, *queued_again(state, convoy, task, self.cause, self.why))


class ProveWork(TaskCommand, frozen=True, kw_only=True):
    """CI found work on trial as it should be: tests red, a rival's work green."""

    commit: str
    judged: tuple[str, ...]
    lines: int = 0

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "needs-review")
        wanted = trial(convoy, task)
        if wanted is None:
            raise Refusal(f"task {task.number} needs no trial: it lands as it is")
        if task.work is None or task.work.commit != self.commit or task.is_proven:
            raise Refusal(f"{self.commit} is not on trial")
        shown = task.candidate is not None and task.candidate.work == self.commit
        if convoy.settings.require_ci and not shown:
            raise Refusal(f"{self.commit} is no longer the candidate")
        if not is_judged(convoy.settings, self.judged):
            raise Refusal(f"{self.commit} was not tested by all required checks")
        if wanted == "red":
            return (copied(TestsProven, self),)
        return (copied(WorkProven, self),)


class LandMerge(TaskCommand, frozen=True, kw_only=True):
    candidate: str
    judged: tuple[str, ...]
    reporters: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        task = convoy.task(self.task)
        current_candidate(task or convoy, self.candidate)
        check_judged(convoy, self.candidate, self.judged)
        if kept_from_landing(convoy, task) if task else convoy.kept_back:
            raise Refusal(f"{self.candidate} cannot land now")
        branch = ids.base_branch(convoy.name) if task else convoy.target
        landed = copied(MergeLanded, self, branch=branch)
        if task is None:
            return (landed, *completed(convoy, self.candidate))
        if needed := unmet(convoy, task):
            raise Refusal(f"task {needed[0]} must be merged before task {task.number}")
        if first := turns(convoy).get(task.number):
            raise Refusal(f"task {task.number} is waiting for {first[0].words()}")
        merged = TaskMerged(convoy=convoy.name, task=task.number, commit=self.candidate)
        done = replace(task, state="merged", landed=self.candidate)
        events: Events = (landed,)
        if task.is_suspect:
            events = (copied(MergeCleared, self), landed)
        if task.candidate and task.candidate.target:
            target = task.candidate.target
            taken = copied(SyncLanded, self, target=target, branch=branch)
            events = (*events, taken)
        return (*events, merged, *convoy_next(convoy, done))


class SettleEmpty(TaskCommand, frozen=True, kw_only=True):
    """The branch holds all that a task's work changes: nothing is left to land."""

    work: str
    landed: str = ""
    """The commit as which a person merged it; empty: something else brought it."""

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "needs-review")
        if task.work is None or task.work.commit != self.work:
            raise Refusal(f"the work of task {task.number} has changed")
        if waits := kept_from_landing(convoy, task):
            raise Refusal(f"task {task.number} is waiting for {waits}")
        why = "" if self.landed else HELD_ALREADY
        merged = copied(TaskMerged, self, commit=self.landed or None, why=why)
        return (merged, *convoy_next(convoy, replace(task, state="merged")))


class DoubtMerge(TaskCommand, frozen=True, kw_only=True):
    candidate: str
    is_red: bool
    checks: tuple[str, ...]
    why: str

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "needs-review")
        current_candidate(task, self.candidate)
        if self.is_red and trial(convoy, task):
            raise Refusal(f"task {task.number} is on trial")
        return (copied(MergeDoubted, self),)


class ClearMerge(TaskCommand, frozen=True, kw_only=True):
    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "needs-review")
        current_candidate(task, self.candidate)
        if not task.is_suspect:
            raise Refusal(f"{self.candidate} is no longer the candidate")
        check_judged(convoy, self.candidate, self.judged)
        return (copied(MergeCleared, self),)


def target_taken_in(convoy: Convoy) -> str:
    """Return the target's commit that the convoy's branch holds."""
    return convoy.sync.target or convoy.base


def sync_on_tip(convoy: Convoy, tip: str) -> Candidate | None:
    """Return the candidate that takes the target in, if it stands on the tip."""
    candidate = convoy.sync.candidate
    return candidate if candidate is not None and candidate.base == tip else None


def may_take_target_in(convoy: Convoy, target: str) -> bool:
    """Whether a candidate may be built that takes in this commit of the target.

    Where nothing has landed, a target that is red by itself is left alone until it
    moves on.
    """
    sync = convoy.sync
    is_lacking = any(task.on_target for task in convoy.tasks)  # what a person did
    is_there = target == target_taken_in(convoy) and not is_lacking
    if is_there or sync.stalled or sync_task(convoy) is not None:
        return False
    return sync.left != target or holds_own_work(convoy)
