"""A session: its start, what it claims of itself, and how it ends.

It ends once, and only the current one. A task that was dropped or blocked meanwhile
keeps its session until the session ends, so that its slot and leases are not given away
before; its work is refused.
"""

from typing import Final, Literal

from msgspec.structs import replace

from convoy.events import Claim, TaskEvent, copied
from convoy.model import records
from convoy.model.session_result import Outcome
from convoy.model.state import Moment, State, Task
from convoy.model.work import Attempt, HalfDone, HandedIn, Resolution, Work


class SessionSpawned(Claim, frozen=True, kw_only=True, tag="session.spawned"):
    """The witness has started and has read its task."""

    SAYS = "{session} has started."


class SessionReady(Claim, frozen=True, kw_only=True, tag="session.ready"):
    """The workspace is at the base commit."""

    SAYS = "{session} has prepared its workspace."


class SessionRunning(Claim, frozen=True, kw_only=True, tag="session.running"):
    """The engine's process was started."""

    engine: str
    argv0: str

    def sentence(self) -> str:
        return f"{self.session} started {self.argv0} ({self.engine})."


class FilesModified(Claim, frozen=True, kw_only=True, tag="files.modified"):
    """The files that the attempt changed relative to its base."""

    SAYS = "{session} changed {paths:files}."
    paths: tuple[str, ...]


class SessionHandoff(Claim, frozen=True, kw_only=True, tag="session.handoff"):
    """The work is committed and bundled, or there is none."""

    SAYS = "{session} handed in {commit:short}."
    commit: str | None


class SessionExited(Claim, frozen=True, kw_only=True, tag="session.exited"):
    """How the engine ended: an exit status, or the signal that ended it."""

    exit_code: int | None
    signal: int | None
    verdict: records.Verdict
    outcome: Outcome = "exited"
    """How the session ended; docs/engines.md says what each means."""
    summary: str
    seconds: float

    def sentence(self) -> str:
        how = f"{self.verdict} ({self.outcome})"
        if self.signal is None:
            return f"{self.session} exited with status {self.exit_code}: {how}."
        return f"{self.session} was killed by signal {self.signal}: {how}."


class TaskStarted(TaskEvent, frozen=True, kw_only=True, tag="task.started"):
    """An attempt starts; this event's chunk hands the runner all that it needs."""

    SAYS = "Task {task}, attempt {attempt}, started from {base:short}."
    attempt: int
    """The attempt's number in the log, from 1."""
    session: str
    """The actor that may speak for this attempt: 32 hex digits."""
    nonce: str
    """A value in the run's name, for finding a run whose id was lost."""
    base: str
    """The commit the work starts from."""
    root: str = ""
    """If it continues earlier work: the commit that all its changes are based on."""
    salvaged: int = 0
    """The earlier attempt whose unfinished work is in `base`; 0: none."""
    resolves: Resolution | None = None
    """The conflict in earlier work that it must resolve; null: none."""
    branch: str
    """The branch the bot will push the work to."""
    title: str
    instructions: str
    paths: tuple[str, ...] = ()
    """The files and folders that its plan says it touches."""
    plan: tuple[str, ...] = ()
    """The convoy's tasks and their states, one line each."""
    kind: records.Kind | Literal["plan"] = "work"
    """`plan`: it changes nothing, and its answer is the convoy's plan."""
    brief: str = ""
    """What a session that must give an answer is told in addition to its instructions;
    trusted text."""
    notes: tuple[str, ...] = ()
    """Why earlier attempts did not land, oldest first."""
    handed: tuple[str, ...] = ()
    """The notes from the tasks that it builds on and from its last attempt."""
    scratchpad: tuple[str, ...] = ()
    """The notes that the convoy's agents left for each other, oldest first."""
    acceptance: str = ""
    """The command the runner runs on the work; exit status 0 accepts it."""
    engine: records.EngineSpec
    limits: records.Limits
    gate: records.Gate
    egress: tuple[str, ...] | None = None
    """The only hosts that its agent can reach; null: none if the key proxy reaches its
    model, otherwise all."""
    setup_hosts: tuple[str, ...] | None = None
    """The only hosts that its setup script can reach; null: those of `egress` and the
    public package registries, or all if its agent can reach all."""
    box: records.BoxSetting = "on"
    """`on`: it starts only in a sandbox; `off`: it starts without one."""

    def task_after(self, task: Task, now: Moment) -> Task:
        left, unmerged = task.half_done, task.unmerged
        merge = self.resolves.merge if self.resolves else ""
        if unmerged is not None:
            unmerged = replace(unmerged, merge=merge)
        attempt = copied(
            Attempt,
            self,
            number=self.attempt,
            ground=left.ground if self.salvaged and left else self.base,
            resolves=merge,
            log=now.commit,
            at=now.at,
        )
        return replace(
            task,
            state="running",
            why="",
            started=self.attempt,
            spent=task.spent + 1,
            attempt=attempt,
            unmerged=unmerged,
            refused_paths=(),
            begun_at=task.begun_at or now.at,
        )


class _SpendingEvent(TaskEvent, frozen=True, kw_only=True):
    """The end of a session, which cost something."""

    usage: records.Usage = records.Usage()

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage))


class _FruitlessEvent(_SpendingEvent, frozen=True, kw_only=True):
    """The end of a session without work that may land."""

    attempt: int
    why: str
    left: str = ""
    """The commit with unfinished work for the next attempt; empty: none."""

    def task_after(self, task: Task, now: Moment) -> Task:
        attempt, before, left = task.attempt, task.half_done, None
        if attempt is not None and self.left:
            is_same = before and before.commit == self.left
            first = before.attempt if before and is_same else attempt.number
            base, ground = attempt.root or attempt.base, attempt.ground
            left = HalfDone(attempt=first, commit=self.left, base=base, ground=ground)
        return replace(ended_session(task, now, self.usage), half_done=left)


class WorkAccepted(_SpendingEvent, frozen=True, kw_only=True, tag="work.accepted"):
    """The gate let the attempt's commits through; the same push moves the branch."""

    SAYS = "Accepted {commit:short} from task {task}, attempt {attempt}: {files:files}."
    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    ci_files: tuple[str, ...] = ()
    """The files that tell CI what to run, which a person must review."""
    missing_walls: tuple[str, ...] = ()
    """The sandbox layers that the session did not report as active."""

    def change(self, state: State) -> State:
        return super().change(state).without_failures()

    def task_after(self, task: Task, now: Moment) -> Task:
        work = copied(Work, self, log=now.commit, at=now.at)
        return replace(
            ended_session(task.left_at(self.commit), now, self.usage),
            state="needs-review",
            work=work,
            handed_in=HandedIn(
                self.attempt,
                self.commit,
                before=task.handed_in.commit if task.handed_in else "",
            ),
            touched=tuple(sorted({*task.touched, *self.files})),
            threads=tuple(
                replace(each, is_open=each.is_open and each.since >= self.attempt)
                for each in task.threads
            ),
            approvals=(),
            earlier=None,
            unmerged=None,
            half_done=None,
        )


class TaskReported(TaskEvent, frozen=True, kw_only=True, tag="task.reported"):
    """An attempt ended with a valid report; the same push merges the task."""

    SAYS = "Task {task}, attempt {attempt}, reported: {report.summary:clause}."
    attempt: int
    report: records.Report
    """The agent's findings, cleaned."""

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, report=self.report)


class WorkRefused(_FruitlessEvent, frozen=True, kw_only=True, tag="work.refused"):
    """The attempt ended without work that can land."""

    SAYS = "Refused task {task}, attempt {attempt}: {why:clause}."
    protected: tuple[str, ...] = ()
    """The protected paths for which it was refused."""

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(super().task_after(task, now), refused_paths=self.protected)


class SessionLost(_FruitlessEvent, frozen=True, kw_only=True, tag="session.lost"):
    """The session ended without a result."""

    SAYS = "Lost the session of task {task}, attempt {attempt}: {why:clause}."


class WorkReviewed(_SpendingEvent, frozen=True, kw_only=True, tag="work.reviewed"):
    """A review attempt gave its verdict on another task's work."""

    SAYS = (
        "Review task {task}, attempt {attempt}, {verdict:did} task {on} at "
        "{commit:short}{text:told}."
    )
    task: int
    """The review's own number."""
    attempt: int
    on: int
    """The number of the task under review."""
    commit: str
    """The commit that was reviewed."""
    verdict: records.Opinion
    text: str = ""
    """The changes that the reviewer requests, or other remarks; cleaned."""

    def task_after(self, task: Task, now: Moment) -> Task:
        """Let the review wait for new work, or for this work to land."""
        if task.state != "running":
            return ended_session(task, now, self.usage)
        ended = after_verdict(task, now, self.usage)
        if self.verdict == "approve":
            return replace(ended, approves=self.commit)
        return replace(ended, rounds=task.rounds + 1)


class ChoiceMade(_SpendingEvent, frozen=True, kw_only=True, tag="choice.made"):
    """One of several rivals was chosen to land; the same push drops the others."""

    SAYS = "Task {task} chose task {on} ({commit:short}): {text:clause}."
    task: int
    """The choice's own number."""
    attempt: int
    """The attempt that compared them; 0: none was needed."""
    on: int
    """The number of the chosen rival."""
    commit: str
    """The commit with the chosen rival's work."""
    text: str
    """The reason for the choice; cleaned if an agent wrote it."""

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(after_verdict(task, now, self.usage), chosen=self.on)


DAY_MS: Final = 86_400_000


def ended_session(task: Task, now: Moment, usage: records.Usage) -> Task:
    """Return the task without its session; a task without one stays as it is."""
    if task.attempt is None:
        return task
    spent_ms = max(0, now.at - task.attempt.at)
    return replace(
        task,
        attempt=None,
        worked_ms=task.worked_ms + spent_ms,
        used=task.used + usage,
    )


def after_verdict(task: Task, now: Moment, usage: records.Usage) -> Task:
    """Let a task that has given its verdict wait for the work it is about."""
    ended = ended_session(task, now, usage)
    return replace(ended, state="queued", cause="planned", why="", spent=0, outages=0)


def spent_today(state: State, usage: records.Usage) -> State:
    """Return the state with a session's cost counted on the day it ended."""
    if not usage.usd:
        return state
    day = state.moment.at // DAY_MS
    before = state.day_usd if day == state.day else 0.0
    total = (records.Usage(usd=before) + records.Usage(usd=usage.usd)).usd
    return replace(state, day=day, day_usd=total)
