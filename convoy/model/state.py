"""The state that folding the log gives, how it is changed, and what waits in it. Pure.

Frozen: a change is a new value. Attempts in a row that brought no work are counted:
one broken key, image or vendor fails every attempt, and each costs money, so too many
stop everything. Work that comes in, and a person who lets things go on, begin the count
anew. A vendor's outage has its own patience and does not count.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from convoy.model import ids, records
from convoy.model.work import (
    Approval,
    Attempt,
    Candidate,
    Convoys,
    ConvoySummary,
    Doubt,
    GivenAnswers,
    HalfDone,
    HandedIn,
    Intent,
    Landing,
    Push,
    ReviewThread,
    ShownAnswer,
    TakenOut,
    TargetSync,
    Unmerged,
    Work,
)

TaskState = Literal["queued", "running", "needs-review", "merged", "blocked", "dropped"]
IssueState = Literal["open", "closed", "paused", "overruled", "gone"]
"""Of a closed issue: whether the closing paused the convoy, and whether a person said
since that it goes on."""
BaseState = Literal["there", "deleted", "wanted"]
"""Whether a person deleted the shared branch, and whether one wants it again."""
ConvoyState = Literal["planning", "active", "paused", "complete", "failed"]
LATELY_MS: Final = 7 * 86_400_000
"""For so long after its end people are told of a convoy that failed."""


class Moment(Struct, frozen=True):
    """Where in the log the fold stands."""

    commit: str = ""
    """The commit being folded; empty until it is written."""
    at: int = 0
    """Time of the event being folded, unix ms."""


class Part(Struct, frozen=True, kw_only=True):
    """What a task and a convoy share: work that lands, and who keeps it from that."""

    pull: int | None = None
    candidate: Candidate | None = None
    withdrawn: bool = False
    """Whether a person took it out of the merge queue."""
    put_back_by: str = ""
    """Who put it back into the merge queue, and so answers for its landing."""
    held: str = ""
    """The label that keeps it from merging, and a convoy from starting anything."""
    taken_out: TakenOut | None = None
    """What a person did to its pull request that took its work out."""
    pushed: Push | None = None
    """What somebody pushed to its branch, until somebody answers for it."""
    set_aside: ids.SetAside | None = None
    """Why a step of it was refused or failed, and when it is tried again."""
    landed: str | None = None
    stood_on: str = ""
    """The commit that what landed of it was built on; empty: not known."""
    ended_at: int = 0

    @property
    def waits_aside(self) -> bool:
        """Whether it is set aside, and not being tried again."""
        return self.set_aside is not None and not self.set_aside.again

    @property
    def kept_by(self) -> str:
        """What must happen before it goes on; empty: nothing."""
        if self.held:
            return f"the label {self.held} to be removed"
        kept = self.pushed or (self.set_aside if self.waits_aside else None)
        return kept.back if kept is not None else ""

    @property
    def kept_back(self) -> str:
        """What must happen before it lands, by what befell itself; empty: nothing."""
        out = self.taken_out.back if self.taken_out is not None else ""
        removed = "a person: it was removed from the merge queue"
        return self.kept_by or out or (removed if self.withdrawn else "")


class Task(Part, frozen=True, kw_only=True):
    spec: records.TaskSpec
    state: TaskState = "queued"
    cause: records.Cause = "planned"
    why: str = ""
    """Why it waits, is blocked or was dropped."""
    started: int = 0
    """Attempts ever started: the number of the newest."""
    spent: int = 0
    """Attempts that count against the limit."""
    tips: tuple[str, ...] = ()
    """Where the log may have left its branch: any other tip is a push."""
    outages: int = 0
    """How many outages of the model's vendor in a row stopped its attempts."""
    not_before: int = 0
    """It does not start before this time, unix ms."""
    notes: tuple[str, ...] = ()
    """Why earlier attempts did not land, oldest first."""
    learned: tuple[str, ...] = ()
    """The latest notes its agents left for the tasks that build on it."""
    proven: str = ""
    """The work that CI found as it should be: tests red, a rival's work green."""
    lines: int = 0
    """For a rival: how many lines that work adds and removes."""
    chosen: int = 0
    """For a choice: the chosen rival; 0: none yet."""
    approves: str = ""
    """For a review: the work it approves; empty: none yet."""
    rounds: int = 0
    """For a review: how often it asked for changes since a person last acted."""
    report: records.Report | None = None
    attempt: Attempt | None = None
    work: Work | None = None
    handed_in: HandedIn | None = None
    allowed: tuple[str, ...] = ()
    """The protected paths that people let it change."""
    refused_paths: tuple[str, ...] = ()
    """Those for which the work of its newest attempt was refused."""
    touched: tuple[str, ...] = ()
    """The files that any of its attempts was seen to change, sorted."""
    conflicts: int = 0
    """How often its work conflicted since a person last acted."""
    doubt: Doubt | None = None
    """What CI said against its work, where nobody is blamed for it yet."""
    approvals: tuple[Approval, ...] = ()
    """Of the current work; newer work needs approval again."""
    threads: tuple[ReviewThread, ...] = ()
    """What was said of lines of its work, answered or not."""
    instructed_by: tuple[str, ...] = ()
    """The people who wrote what its agents were told, beside who asked for it all."""
    earlier: Work | None = None
    """Work that a person wants changed; the next attempt continues it."""
    unmerged: Unmerged | None = None
    """Work that conflicts with what has landed; the next attempt makes it fit."""
    half_done: HalfDone | None = None
    """The half-done work of its last attempt; the next one continues it."""
    runs: tuple[int, ...] = ()
    """The workflow runs of its attempts, oldest first."""
    begun_at: int = 0
    worked_ms: int = 0
    """Total time of its sessions, as if they had run one after another."""
    used: records.Usage = records.Usage()
    """What its ended sessions used, according to their engines."""
    on_target: str = ""
    """The target's commit that holds it, where a person did it, until the convoy's
    branch has taken that in; empty: it holds it."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that its newest work changed."""
        return self.work.files if self.work else ()

    @property
    def number(self) -> int:
        return self.spec.number

    @property
    def approved_by(self) -> tuple[str, ...]:
        return tuple(approval.by for approval in self.approvals)

    def left_at(self, *commits: str) -> "Task":
        """Return it with where the log may have left its branch, too."""
        return replace(self, tips=tuple(dict.fromkeys((*self.tips, *commits))))

    def after_words_of(self, by: str) -> "Task":
        if by in ("", *self.instructed_by):
            return self
        return replace(self, instructed_by=(*self.instructed_by, by))

    @property
    def newest_run(self) -> int | None:
        """The workflow run of its newest session; None: none, or not known yet."""
        if self.attempt is not None:
            return self.attempt.run
        return self.runs[-1] if self.runs else None

    @property
    def changed(self) -> tuple[str, str] | None:
        """The commits between which its changes lie, landed or not; None: it has none.

        The first may be written as git's name for the parent of the second.
        """
        if self.landed is not None:
            return self.stood_on or f"{self.landed}^", self.landed
        made = (self.work, self.unmerged, self.earlier, self.half_done)
        return next(((each.base, each.commit) for each in made if each), None)

    @property
    def settled(self) -> bool:
        """Whether it is over: nothing more will happen to it."""
        return self.state in ("merged", "dropped")

    @property
    def doubted(self) -> Doubt | None:
        """What CI said against its current work; None: nothing."""
        is_of_it = self.doubt and self.work and self.doubt.work == self.work.commit
        return self.doubt if is_of_it else None

    @property
    def is_suspect(self) -> bool:
        """Whether its work was red, and is judged alone before anybody is blamed."""
        return self.doubted is not None and self.doubted.is_red

    @property
    def is_proven(self) -> bool:
        return self.work is not None and self.proven == self.work.commit


class Convoy(Part, frozen=True, kw_only=True):
    """A group of tasks that share `convoy/<name>/base`."""

    name: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    base: str
    settings: records.Settings
    pattern: str = ""
    """The template that is its plan; empty: none."""
    inputs: dict[str, str] = {}
    """The values that fill the template."""
    named: tuple[records.NamedIssue, ...] = ()
    """The issues that are closed when their tasks have landed."""
    listed: tuple[records.SubIssue, ...] = ()
    """The open sub-issues that are its plan, as they were taken in."""
    proposed: tuple[records.SubIssue, ...] = ()
    """What they are by now, which nobody has agreed to; empty: nothing is different."""
    given: records.GivenPull | None = None
    """The pull request that it is about; None: it is about an issue."""
    state: ConvoyState = "planning"
    why: str = ""
    given_up_by: str = ""
    """The person who ended it; empty: nobody did."""
    planner: str = ""
    tasks: tuple[Task, ...] = ()
    vouched_by: str = ""
    """Who last approved its plan or resumed it; empty: who asked for it."""
    vouched_in: int = 0
    """The comment that approved its plan; 0: none did, or it was resumed since."""
    mayor: Task | None = None
    """Task 0, where an engine plans; it has neither a branch nor a pull request."""
    estimate: records.Estimate | None = None
    """The estimated cost of its tasks when they were planned."""
    warnings: tuple[str, ...] = ()
    """Remarks for readers of the plan."""
    numbered: int = 0
    """The highest number of a task of a plan that was given up for another one."""
    scopes: tuple[records.Scope, ...] = ()
    """What the paths of its tasks are, as planned."""
    scratchpad: tuple[str, ...] = ()
    """The notes its agents left for each other, oldest first."""
    priority: int = 1
    """The rank: 0 goes before 1, and 1 before 2."""
    base_is: BaseState = "there"
    """What people did to its shared branch, once there was one."""
    tip: str = ""
    """The commit that its shared branch was moved to last; empty: where it began."""
    built: str = ""
    """The candidate of its own that was built last: its branch may be moved to it."""
    issue_is: IssueState = "open"
    """What people did to its issue."""
    comment: int | None = None
    deleted_comments: int = 0
    """How many comments that showed it people have deleted."""
    answers: tuple[ShownAnswer, ...] = ()
    """The newest answers that its comment shows, oldest first."""
    called: tuple[str, ...] = ()
    """What people were told waits for them: keys of `convoy.rules.calls`."""
    landing: Landing | None = None
    """How it lands by its target's rules; None: they were not read yet."""
    landing_waits: str = ""
    """What the forge still asks for before it merges its pull request."""
    asked: str = ""
    """The candidate that the forge was asked to merge."""
    offered: str = ""
    """The tip of its branch when the branch was last offered to the target."""
    sync: TargetSync = TargetSync()
    requested_at: int = 0

    def task(self, number: int) -> Task | None:
        """Return task `number`; None when there is none. Numbers may have gaps."""
        place = number - 1  # without gaps, as nearly always
        if 0 <= place < len(self.tasks) and self.tasks[place].spec.number == number:
            return self.tasks[place]
        return next((task for task in self.tasks if task.number == number), None)

    def in_session(self, number: int) -> Task | None:
        """Return what a session may work on: a task, or for 0 the plan itself."""
        return self.task(number) if number else self.mayor

    def shows_work(self, ci_files: tuple[str, ...]) -> bool:
        """Whether a task's work, which tells CI what to run in these files, is shown.

        What a person has to approve always has a pull request of its own.
        """
        wanted = self.settings.task_pulls and self.given is None
        return wanted or bool(self.settings.approvals or ci_files)

    @property
    def lands_given(self) -> records.GivenPull | None:
        """The pull request of somebody else that it lands; None: it lands its own."""
        return self.given if self.given is not None and self.given.lands else None

    @property
    def changed(self) -> tuple[str, str] | None:
        """The commits between which its changes lie, landed or not; None: none are."""
        if self.landed is not None:
            return self.stood_on or self.base, self.landed
        return (self.sync.target or self.base, self.tip) if self.tip else None

    @property
    def sponsor(self) -> str:
        """Who answers for it."""
        return self.vouched_by or self.by

    @property
    def offer(self) -> str:
        return f"pull request #{self.pull}" if self.pull else "its landing"

    @property
    def unplanned(self) -> str:
        """Why who was to plan did not, so that its text is its plan; empty: it is."""
        asked = self.mayor
        return asked.why if asked and asked.state == "dropped" and self.tasks else ""

    @property
    def next_number(self) -> int:
        return max((self.numbered, *(task.number for task in self.tasks))) + 1

    @property
    def issue_closed(self) -> bool:
        """Whether its issue is closed, and nobody said since that it goes on."""
        return self.issue_is in ("closed", "paused")

    @property
    def kept_by(self) -> str:
        """What must happen before anything of it starts or merges; empty: nothing."""
        if self.issue_closed and not self.held:
            return f"someone to reopen issue #{self.issue} or say /brat resume"
        return super().kept_by

    @property
    def tips(self) -> frozenset[str]:
        """Where the log may have left its shared branch: any other tip is a push."""
        return frozenset(filter(None, (self.tip or self.base, self.built)))

    @property
    def waits_for_approval(self) -> bool:
        return self.settings.approve == "plan" or self.settings.staged

    @property
    def staged(self) -> bool:
        return self.settings.staged and self.state == "planning"

    @property
    def ended(self) -> bool:
        return self.state in ("complete", "failed")

    @property
    def shown_state(self) -> str:
        """The state as people and programs read it: who cancels makes nothing fail."""
        return "cancelled" if self.ended and self.given_up_by else self.state

    @property
    def settled(self) -> bool:
        """Whether every task is merged or dropped, and there is at least one.

        What lands a given pull request has nothing to do before it lands.
        """
        is_given = self.lands_given is not None
        return bool(self.tasks) and (is_given or all(t.settled for t in self.tasks))

    @property
    def spenders(self) -> tuple[Task, ...]:
        """What sessions worked on: the tasks and, as task 0, the plan."""
        return (*((self.mayor,) if self.mayor else ()), *self.tasks)

    @property
    def used(self) -> records.Usage:
        spent = (task.used for task in self.spenders if task.used != records.Usage())
        return sum(spent, records.Usage())

    def rests(self, at: int) -> bool:
        """Whether at that time (unix ms) only a person could still wake it."""
        if not self.ended or any(task.attempt for task in self.spenders):
            return False
        lately = at - self.ended_at < LATELY_MS
        return self.state == "complete" or (bool(self.called) and not lately)

    @property
    def summary(self) -> ConvoySummary:
        pulls = (self.pull, *(task.pull for task in self.tasks))
        return ConvoySummary(
            issue=self.issue,
            by=self.by,
            state=self.state,
            requested_at=self.requested_at,
            ended_at=self.ended_at,
            pulls=tuple(pull for pull in pulls if pull is not None),
            tasks=dict(Counter(task.state for task in self.tasks)),
            used=self.used,
        )


class Lease(Struct, frozen=True, kw_only=True):
    """A resource that somebody holds until `expires` (unix ms)."""

    resource: str
    holder: str
    nonce: str
    expires: int


class State(Struct, frozen=True, kw_only=True):
    moment: Moment = Moment()
    bots: frozenset[str] = frozenset()
    """Actors (hex) whose events count."""
    convoys: Convoys[Convoy] = Convoys()
    leases: dict[str, Lease] = {}
    intents: dict[str, Intent] = {}
    set_aside: dict[str, ids.SetAside] = {}
    """What is not tried for now, by item; convoys and tasks carry their own."""
    day: int = 0
    """The last day (UTC, counted from 1970) on which money was spent."""
    day_usd: float = 0.0
    """The known spending of all convoys on that day."""
    answered: frozenset[int] = frozenset()
    """Comments whose commands were carried out and answered."""
    heard: frozenset[str] = frozenset()
    """Reviews and ticks that were carried out and answered, by key."""
    answers: dict[str, GivenAnswers] = {}
    """The answers of the last hour, by whom they answer, in lower case."""
    paused_by: str = ""
    """Who stopped everything; empty: nobody."""
    reporters: dict[str, str] = {}
    """Who reported each check when work first landed by it, by the check's name."""
    judges: tuple[str, ...] = ()
    """The checks that judged what landed last, but for workflows' jobs, which filters
    of paths leave out."""
    failures: int = 0
    """Attempts in a row, of all convoys, that brought no work."""
    unknown: tuple[str, ...] = ()
    """Types of bot events this version does not know; while any is here, read only."""

    def running(self) -> Iterator[tuple[Convoy, Task]]:
        """Yield each task that has a session, with its convoy.

        This includes a dropped or blocked task whose session has not ended.
        """
        for convoy in self.convoys.at_hand.values():
            for task in convoy.spenders:
                if task.attempt is not None:
                    yield convoy, task

    def newest_running(self) -> list[tuple[Convoy, Task]]:
        return sorted(self.running(), key=lambda each: -each[0].requested_at)

    def live(self) -> Iterator[Convoy]:
        at_hand = self.convoys.at_hand.values()
        return (convoy for convoy in at_hand if not convoy.ended)

    def with_convoy(self, convoy: Convoy) -> "State":
        return replace(self, convoys=self.convoys.having(convoy))

    def change_convoy(self, name: str, change: Callable[[Convoy], Convoy]) -> "State":
        """Change a convoy; an unknown convoy changes nothing."""
        convoy = self.convoys.get(name)
        return self if convoy is None else self.with_convoy(change(convoy))

    def without_intent(self, key: str) -> "State":
        kept = {k: intent for k, intent in self.intents.items() if k != key}
        return replace(self, intents=kept)

    def without_failures(self) -> "State":
        return replace(self, failures=0) if self.failures else self

    def past_tasks(self, engine: records.EngineSpec) -> Iterator[Task]:
        """Yield all settled tasks that engines of its type and model tried."""
        for convoy in self.convoys.values():
            for task in convoy.tasks:
                spec = convoy.settings.engines.get(task.spec.engine)
                is_its = spec and (spec.type, spec.model) == (engine.type, engine.model)
                if is_its and task.settled and task.started:
                    yield task

    def aside_of(self, item: str) -> ids.SetAside | None:
        """Return why an item is set aside; None: it never was, or works again."""
        part = ids.task_of_item(item)
        if part is None:
            return self.set_aside.get(item)
        convoy = self.convoys.get(part[0])
        where = convoy.task(part[1]) if convoy and part[1] else convoy
        return where.set_aside if where else None

    def may_try(self, item: str, now: int) -> bool:
        """Whether nothing keeps an item back at `now` (unix ms)."""
        aside = self.aside_of(item)
        return aside is None or aside.again or aside.due <= now

    def asides(self) -> Iterator[tuple[str, ids.SetAside]]:
        """Yield every item that waits aside, with the reason: convoys first."""
        for convoy in self.live():
            for number, part in ((0, convoy), *((t.number, t) for t in convoy.tasks)):
                if part.set_aside is not None and part.waits_aside:
                    yield ids.task_item(convoy.name, number), part.set_aside
        for item, aside in self.set_aside.items():
            if not aside.again:
                yield item, aside

    def asides_of(self, convoy: str) -> Iterator[tuple[str, ids.SetAside]]:
        """Yield what waits aside of one convoy, also of one that has ended."""
        for item, aside in self.asides():
            if self.convoy_of_item(item) == convoy:
                yield item, aside

    def shown_asides(
        self, convoy: str, works: frozenset[str] = frozenset()
    ) -> tuple[ids.SetAside, ...]:
        """Return what a convoy's comment tells of beside the rows of its tasks.

        `works` are the items that were tried just now and work again.
        """
        untold = {ids.item("show", convoy, "comment"), *works}
        return tuple(
            aside
            for item, aside in self.asides_of(convoy)
            if item not in untold and not item.startswith(ids.TASK_ITEM)
        )

    def convoy_of_item(self, item: str) -> str:
        """Return the name of the convoy that an item belongs to; empty: none."""
        part = ids.task_of_item(item)
        if part is not None:
            return part[0]
        words = item.split("/")
        if words[0] in ("show", "look", "part") and words[1] in self.convoys:
            return words[1]
        for intent in self.intents.values():
            if item == ids.item("action", intent.key):
                found = self.convoys.summaries()
                same = [name for name, known in found if known.issue == intent.issue]
                return intent.convoy or (same[-1] if same else "")
        return ""


def change_task(convoy: Convoy, number: int, change: Callable[[Task], Task]) -> Convoy:
    """Change a task, or for 0 the plan itself; an unknown task changes nothing."""
    if not number:
        return replace(convoy, mayor=change(convoy.mayor) if convoy.mayor else None)
    tasks = [*convoy.tasks]
    for place, task in enumerate(tasks):
        if task.spec.number == number:
            tasks[place] = change(task)
            return replace(convoy, tasks=tuple(tasks))
    return convoy


def change_part(convoy: Convoy, number: int, **fields: Any) -> Convoy:  # noqa: ANN401
    """Set fields of a task, or for 0 of the convoy itself."""
    if not number:
        return replace(convoy, **fields)
    return change_task(convoy, number, lambda task: replace(task, **fields))
