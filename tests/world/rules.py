"""A log in memory: commands go through decide, record and fold, as in the bot."""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import fields, replace

from convoy.events import Command, Event, Refusal, decided
from convoy.events.forge_actions import ActionDone
from convoy.events.hold_events import BranchPushed, BranchTaken
from convoy.events.leases import StartBot, TakeLease
from convoy.events.plan_events import ConvoyRequested
from convoy.events.task_events import ConvoyFailed
from convoy.log.record import fold, record
from convoy.model import ids
from convoy.model.records import EngineSpec, Settings, SubIssue, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Attempt
from convoy.owed import Action, Note
from convoy.rules import sub_issues
from convoy.rules.ending import AcceptWork, LoseSession, RefuseWork
from convoy.rules.landing import (
    AttemptMerge,
    LandMerge,
    kept_from_landing,
    waiting_to_merge,
)
from convoy.rules.observed import PullSeen
from convoy.rules.people import BlockTask, DropTask, RetryConvoy
from convoy.rules.plans import PlanConvoy
from convoy.rules.retries import RetryTask
from convoy.rules.starting import StartTask, start_waits
from convoy.views.reasons import reasons, waits_for
from grite.event import Event as GriteEvent

_Fact = TypeVar("_Fact", bound=Event)
_Kind = TypeVar("_Kind", bound=Command)
_Made = TypeVar("_Made", bound=Struct)

ACTOR = bytes(range(16))
NAME = "fix-7"


def sha(letter: str) -> str:
    """Return a made-up commit id."""
    return letter * 40


def spec(number: int, **given: object) -> TaskSpec:
    """Return a task as planned, the dull fields filled in."""
    fields = {"title": f"Task {number}", "instructions": "Do it.", **given}
    return TaskSpec(number=number, **fields)  # type: ignore[arg-type]


def settings(**given: object) -> Settings:
    engines = {"default": EngineSpec(type="shell", args=("true",))}
    return Settings(**{"engines": engines, **given})  # type: ignore[arg-type]


USUAL: Final = {
    "convoy": NAME,
    "task": 1,
    "attempt": 1,
    "base": sha("0"),
    "files": ("a.py",),
    "by": "ann",
    "why": "no",
    "nonce": "n",
    "judged": ("ci",),
    "session": "5" * 32,
}


def made(kind: type[_Made], **given: object) -> _Made:
    """Return a command or an event; what it requires and is not given is the usual."""
    asked = {field.name for field in fields(kind) if field.required}
    usual = {name: USUAL[name] for name in asked & USUAL.keys()}
    return kind(**(usual | given))


def requested(**given: object) -> ConvoyRequested:
    """Return the request for a convoy, the dull fields filled in."""
    one = ConvoyRequested(
        convoy=NAME,
        issue=7,
        title="Fix it",
        text="All of it.",
        by="ann",
        target="main",
        base=sha("0"),
        settings=settings(),
    )
    return replace(one, **given)


def commands(actions: Iterable[Action], kind: type[_Kind]) -> list[_Kind]:
    noted = (action.command for action in actions if isinstance(action, Note))
    return [command for command in noted if isinstance(command, kind)]


def open_pulls(convoy: Convoy) -> dict[int, PullSeen]:
    branch = ids.base_branch(convoy.name)
    return {
        task.pull: PullSeen(
            number=task.pull, open=True, merged=False, head="", base=branch
        )
        for task in convoy.tasks
        if task.pull is not None
    }


def task_branches(convoy: Convoy) -> dict[str, str]:
    return {
        ids.HEADS + ids.task_branch(convoy.name, task.number): task.work.commit
        for task in convoy.tasks
        if task.work is not None
    }


class Rules:
    """State, and all that was written to get there."""

    def __init__(self) -> None:
        self.state = State()
        self.now = 1_000_000
        self.facts: list[Event] = []
        self.written: list[GriteEvent] = []
        self.do(StartBot(actor=ACTOR.hex(), version="0"))

    def ask(self, command: Command) -> Refusal | None:
        """Submit a command; what was written is read back and must fold alike."""
        decision = decided(command, self.state)
        if isinstance(decision, Refusal):
            return decision
        self.now += 1_000
        commit = f"{len(self.facts):040d}"
        after, events = record(self.state, decision, actor=ACTOR, at=self.now)
        folded = fold(self.state, commit, events)
        assert folded.convoys.keys() == after.convoys.keys()
        self.facts += decision
        self.written += events
        self.state = folded
        return None

    def do(self, *commands: Command) -> "Rules":
        """Submit commands that must be allowed."""
        for command in commands:
            assert self.ask(command) is None, command
        return self

    # --- stories ------------------------------------------------------------------

    def planned(self, *tasks: TaskSpec, **given: object) -> "Rules":
        """Bring a convoy with these tasks to `active`."""
        planned = PlanConvoy(convoy=NAME, planner="test", tasks=tasks)
        return self.do(requested(settings=settings(**given)), planned)

    def listed(self, *subs: SubIssue, **given: object) -> "Rules":
        """Bring a convoy that is planned by sub-issues to `active`."""
        named = sub_issues.named_by(subs)
        tasks = sub_issues.planned("Fix it", "All of it.", subs, named)
        return self.do(
            requested(settings=settings(**given), listed=subs, named=named),
            PlanConvoy(convoy=NAME, planner="sub-issues", tasks=tasks),
        )

    def started(self, number: int, base: str = sha("0")) -> "Rules":
        """Start the next attempt of a task and note its run."""
        own = {"session": f"{number:032x}", "nonce": f"nonce{number}"}
        self.do(made(StartTask, task=number, base=base, now=self.now, **own))
        attempt = self.task(number).started
        key = f"dispatch:{NAME}/{number}/{attempt}"
        return self.do(ActionDone(key=key, number=100 * number + attempt))

    def accepted(self, number: int, commit: str, *files: str) -> "Rules":
        """Take in a commit of the running attempt and open its pull request."""
        first = self.task(number).pull is None
        self.accepted_quietly(number, commit, *files)
        key = f"pull:{NAME}/{number}"
        return self.do(ActionDone(key=key, number=10 + number)) if first else self

    def accepted_quietly(self, number: int, commit: str, *files: str) -> "Rules":
        """Take in a commit of the running attempt that opens no pull request yet."""
        task = self.task(number)
        attempt, files = task.attempt, files or ("a.py",)
        base = (attempt.root or attempt.base) if attempt is not None else sha("0")
        given = {"task": number, "attempt": task.started, "base": base}
        return self.do(made(AcceptWork, **given, commit=commit, files=files))

    def lost(self, number: int, why: str = "it died") -> "Rules":
        """Lose the session of the running attempt."""
        given = {"task": number, "attempt": self.task(number).started, "why": why}
        return self.do(made(LoseSession, **given, cause="lost"))

    def refused(self, number: int, cause: str = "failed", **more: object) -> "Rules":
        """Refuse what the running attempt came to."""
        given = {"task": number, "attempt": self.task(number).started, "cause": cause}
        return self.do(made(RefuseWork, **given, **more))

    def blocked(self, number: int, why: str) -> "Rules":
        return self.do(BlockTask(convoy=NAME, task=number, why=why))

    def dropped(self, number: int, why: str = "no") -> "Rules":
        return self.do(DropTask(convoy=NAME, task=number, why=why))

    def retried(self, number: int, by: str = "ann") -> "Rules":
        return self.do(RetryTask(convoy=NAME, task=number, by=by))

    def failed(self, why: str, by: str = "") -> "Rules":
        """Give the whole convoy up."""
        return self.do(ConvoyFailed(convoy=NAME, why=why, by=by))

    def taken_up(self, by: str = "ann") -> "Rules":
        """Let the failed convoy go on."""
        return self.do(RetryConvoy(convoy=NAME, by=by))

    def offered(self, number: int, candidate: str, base: str) -> "Rules":
        """Build a candidate of a task's work."""
        work = self.task(number).work
        assert work is not None
        given = {"candidate": candidate, "base": base, "work": work.commit}
        return self.do(made(AttemptMerge, task=number, **given))

    def landed(self, number: int, commit: str) -> "Rules":
        """Start, accept, offer and land a task."""
        self.started(number).accepted(number, commit).offered(number, commit, sha("0"))
        return self.landed_as(number, commit)

    def landed_as(self, number: int, candidate: str) -> "Rules":
        return self.do(made(LandMerge, task=number, candidate=candidate))

    def locked(self, resource: str, ttl_s: int = 60) -> "Rules":
        """Let ann take a lease."""
        given = {"resource": resource, "holder": "ann", "now": self.now}
        return self.do(made(TakeLease, **given, ttl_s=ttl_s))

    def pushed(self, commit: str) -> "Rules":
        """Let a person push to the shared branch, and answer for it."""
        return self.do(
            BranchPushed(convoy=NAME, commit=commit),
            BranchTaken(convoy=NAME, commit=commit, by="ann"),
        )

    # --- looking ------------------------------------------------------------------

    @property
    def convoy(self) -> Convoy:
        return self.state.convoys[NAME]

    @property
    def states(self) -> list[str]:
        return [task.state for task in self.convoy.tasks]

    @property
    def queue(self) -> list[int]:
        """The tasks that wait to land, in their order."""
        return [task.number for task in waiting_to_merge(self.convoy)]

    def task(self, number: int) -> Task:
        task = self.convoy.task(number)
        assert task is not None
        return task

    def attempt(self, number: int) -> Attempt:
        attempt = self.task(number).attempt
        assert attempt is not None
        return attempt

    def noted(self, kind: type[_Fact]) -> list[_Fact]:
        return [fact for fact in self.facts if isinstance(fact, kind)]

    def waits(self, number: int) -> str:
        return waits_for(self.convoy, self.task(number))

    def kept(self, number: int) -> str:
        """Return what keeps a task from landing."""
        return kept_from_landing(self.convoy, self.task(number))

    def reasons(self, number: int) -> tuple[str, ...]:
        return reasons(self.state, self.convoy, self.task(number), self.now)

    def startable(self, number: int) -> bool:
        return startable(self.convoy, self.task(number))


def startable(convoy: Convoy, task: Task) -> bool:
    """Whether nothing but others' turns keeps the task, as far as its convoy knows."""
    return all(wait.cause == "turn" for wait in start_waits(convoy, task))
