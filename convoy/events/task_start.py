"""How an attempt at a task, or at the plan, begins."""

from typing import Literal

from msgspec.structs import replace

from convoy.events.fact import SHORT, SessionEvent
from convoy.model.attempt import Attempt, Resolution
from convoy.model.kind_names import Kind
from convoy.model.records import BoxSetting, EngineSpec, Gate, Limits
from convoy.model.state import Moment, Task


class TaskStarted(SessionEvent, frozen=True, kw_only=True, tag="task.started"):
    """Everything the runner needs for one attempt; its chunk is the hand-off."""

    attempt: int
    """From 1, counted from the log."""
    session: str
    """The actor that may speak for this attempt: 32 hex digits."""
    nonce: str
    """A value in the run's name by which a run whose id was lost is found again."""
    base: str
    """The commit the work starts from."""
    root: str = ""
    """The commit that the whole work is measured from, if it continues earlier work."""
    salvaged: int = 0
    """The earlier attempt whose half-done work is `base`; 0: none."""
    resolves: Resolution | None = None
    """The conflict of earlier work that it makes fit; null: none."""
    branch: str
    """The branch the bot will push the work to."""
    title: str
    instructions: str
    paths: tuple[str, ...] = ()
    """The files and folders that its plan says it touches."""
    plan: tuple[str, ...] = ()
    """The convoy's tasks and their states, a line each."""
    kind: Kind | Literal["plan"] = "work"
    """`plan`: it changes nothing, and its answer is the convoy's plan."""
    brief: str = ""
    """What a session that must answer is told besides its instructions; trusted
    text."""
    notes: tuple[str, ...] = ()
    """Why earlier attempts did not land, oldest first."""
    handed: tuple[str, ...] = ()
    """The notes for it from the tasks it builds on and from its last attempt."""
    scratchpad: tuple[str, ...] = ()
    """The notes the convoy's agents left for each other, oldest first."""
    followups: bool = True
    """Whether its agent is asked to report further work that it sees."""
    acceptance: str = ""
    """The command the runner runs on the work; exit status 0 accepts it."""
    engine: EngineSpec
    limits: Limits
    gate: Gate
    egress: tuple[str, ...] | None = None
    """The only hosts its agent may reach; null: none where the key proxy reaches its
    model, else all."""
    setup_hosts: tuple[str, ...] | None = None
    """The only hosts that its setup script may reach; null: those of `egress` and the
    public package registries, or all where its agent may reach all."""
    box: BoxSetting = "on"
    """Whether it starts in a box or not at all (`on`), or without one (`off`)."""

    def sentence(self) -> str:
        base = self.base[:SHORT]
        return f"Task {self.task}, attempt {self.attempt}, starts from {base}."

    def task_after(self, task: Task, now: Moment) -> Task:
        left, unmerged = task.half_done, task.unmerged
        merge = self.resolves.merge if self.resolves else ""
        if unmerged is not None:
            unmerged = replace(unmerged, merge=merge)
        attempt = Attempt(
            number=self.attempt,
            session=self.session,
            nonce=self.nonce,
            base=self.base,
            root=self.root,
            salvaged=self.salvaged,
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
            begun_at=task.begun_at or now.at,
        )
