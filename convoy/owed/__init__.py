"""The actions due now to bring the world in line with the log, as data. Pure.

Staged actions change git; effects change the forge. Each has its role, and a role of
the bot does its own only. Each is a step of an item: what is refused or fails stays
there.
"""

from typing import Final, Literal, get_args

from msgspec import Struct

from convoy.events import Command
from convoy.model import ids
from convoy.model.work import Candidate, Intent
from convoy.rules.calls import Need
from convoy.rules.observed import Observed
from convoy.rules.verdict import Checks

Role = Literal["mayor", "witness", "refinery", "deacon"]


class Staged(Struct, frozen=True):
    """What changes git, or the log alone."""


class Note(Staged, frozen=True):
    """Submit a command: the log is all that changes."""

    role: Role | None
    """Whose work it is; None: any role's."""
    command: Command
    item: str = ""
    """The item whose step it is; empty: what the command is about."""


class Hear(Note, frozen=True):
    """Submit what a person did by hand, and tell people once what it means."""


class ConvoyStep(Staged, frozen=True):
    convoy: str


class TaskStep(ConvoyStep, frozen=True):
    task: int


class MakePlan(ConvoyStep, frozen=True):
    """Turn the convoy's frozen text into tasks."""


class CreateBase(ConvoyStep, frozen=True):
    """Push the convoy's shared branch at `commit`; it must not exist."""

    commit: str


class Begin(TaskStep, frozen=True):
    """Start the task's next attempt from `base`; task 0 is the plan."""

    base: str


class Collect(TaskStep, frozen=True):
    """Take in the result of a run that has ended."""

    run: int
    called_off: bool = False
    """Whether the run was cancelled though its time was not over."""


class Build(ConvoyStep, frozen=True):
    """Build candidates of these tasks, one on the other, the first on `onto`."""

    tasks: tuple[int, ...]
    onto: str


class Try(TaskStep, frozen=True):
    """Let CI judge work as it is: tests before their code exists, or a rival's work."""


class Prove(TaskStep, frozen=True):
    """CI found work as it should be: tests red, a rival's green."""

    work: str


class BuildSync(ConvoyStep, frozen=True):
    """Take this commit of the target into the convoy's branch, as a candidate."""

    target: str


class LandSync(ConvoyStep, frozen=True):
    """Move the convoy's branch from `tip` to the candidate that takes the target in."""

    tip: str


class BuildConvoy(ConvoyStep, frozen=True):
    """Build the convoy's own candidate on the target's tip."""

    onto: str


class Align(ConvoyStep, frozen=True):
    """Move these tasks' branches to their candidates, so that they show as merged."""

    tasks: tuple[int, ...]


class Land(ConvoyStep, frozen=True):
    """Move the convoy's branch from `tip` over these tasks' candidates."""

    tasks: tuple[int, ...]
    tip: str


class LandConvoy(ConvoyStep, frozen=True):
    """Move the target branch from `tip` to the convoy's candidate."""

    tip: str


class AlignConvoy(ConvoyStep, frozen=True):
    """Move the convoy's branch to its green candidate, so that the forge merges it."""

    candidate: str


class AskMerge(ConvoyStep, frozen=True):
    """Announce that the forge is asked to merge the convoy's pull request."""

    candidate: str


class TakeLanded(ConvoyStep, frozen=True):
    """The forge shows the convoy's pull request as merged."""

    commit: str


class Against(TaskStep, frozen=True):
    """What CI said against a candidate; task 0 is the convoy's own, or a sync's."""

    candidate: str
    text: str


class Reject(Against, frozen=True):
    """CI found the front candidate red, or green where it has to be red."""

    is_red: bool = True


class LookAgain(Against, frozen=True):
    """CI found a candidate red, or ended without a verdict: it is judged again."""

    checks: tuple[str, ...]
    is_red: bool


class Stall(Against, frozen=True):
    """CI cannot judge the front candidate before a person has mended CI.

    The work is set aside and stays as it is.
    """


class HearPush(TaskStep, frozen=True):
    """The log does not know the tip of a task's branch, or for 0 of the shared one."""

    commit: str


class Pause(ConvoyStep, frozen=True):
    """Nothing new starts in the convoy until a person resumes it."""

    why: str
    tell: bool
    """Whether its issue is told; if several pause at once, only the first one's is."""


class Call(ConvoyStep, frozen=True):
    """Tell people in a new comment, which notifies them, what waits for them."""

    needs: tuple[Need, ...]


class Sweep(Staged, frozen=True):
    """Delete refs nobody needs, each only if it is still at the commit seen."""

    refs: tuple[tuple[str, str], ...]


class Do(Struct, frozen=True):
    """Carry out an announced action."""

    intent: Intent


class CancelRun(Struct, frozen=True):
    """Cancel a run that is past its deadline or whose work is no longer wanted."""

    run: int
    force: bool = False
    """Whether to force it, because it did not end when asked to."""
    role: Role = "witness"
    """The refinery's is a run of CI on a candidate that nobody needs any more."""


Shown = Literal["labels", "checks", "comment"]
SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)


class Show(Struct, frozen=True):
    """Bring a part of what people are shown of a convoy up to date."""

    convoy: str
    part: Shown


Effect = Do | CancelRun | Show
Action = Staged | Effect


class Patience(Struct, frozen=True, kw_only=True):
    session_slack_s: int = 120
    """Time beyond a session's own timeout before its run is cancelled."""
    force_s: int = 600
    """Time after that before the run is forced to end; until then it may hand in what
    it has."""
    sync_s: int = 300
    """How often at most a target that keeps moving is taken in, before the last task
    has merged."""
    check_start_s: int = 600
    """Time until the first check must have reported on a candidate."""


class Look(Struct, frozen=True):
    """One look at the world, and how long the bot waits for it."""

    observed: Observed
    patience: Patience
    now: int
    """Unix ms."""

    def tip(self, branch: str) -> str:
        """Return the commit that a branch stands at; empty: it is not there."""
        return self.observed.refs.get(ids.HEADS + branch, "")

    def checks(self, candidate: Candidate) -> Checks | None:
        """Return CI's verdict on a candidate; None: nobody asked for it."""
        return self.observed.checks.get(candidate.commit)


_ROLES: Final[dict[Role, tuple[type[Action], ...]]] = {
    "mayor": (MakePlan, CreateBase),
    "witness": (Begin, Collect, Pause),
    "refinery": (
        *(Build, Try, Prove, BuildSync, LandSync, BuildConvoy),
        *(Align, Land, LandConvoy, AlignConvoy, AskMerge, TakeLanded),
        *(Reject, LookAgain, Stall),
    ),
    "deacon": (Sweep,),
}


def role_of(action: Action) -> Role | None:
    """Return the role whose work the action is; None: any role's.

    The planning session is the mayor's, from its dispatch to its result.
    """
    if isinstance(action, Note | CancelRun):
        return action.role
    if isinstance(action, Begin | Collect) and action.task == 0:
        return "mayor"
    if isinstance(action, Do) and action.intent.kind == "dispatch":
        return "witness" if action.intent.task else "mayor"
    if isinstance(action, Do):
        return "refinery" if action.intent.kind in ("pull", "land") else None
    return next((role for role, own in _ROLES.items() if type(action) in own), None)


def item_of(action: Action) -> str:
    match action:
        case Note(command=command):
            about, task = getattr(command, "convoy", ""), getattr(command, "task", 0)
            return action.item or (
                ids.task_item(about, task) if about else ids.LOG_ITEM
            )
        case TaskStep(convoy=convoy, task=task):
            return ids.task_item(convoy, task)
        case ConvoyStep(convoy=convoy):
            return ids.item("convoy", convoy)
        case Do(intent=intent):
            return intent.item
        case CancelRun(run=run):
            return ids.item("run", run)
        case Show(convoy=convoy, part=part):
            return ids.item("show", convoy, part)
        case _:
            return ids.SWEEP_ITEM
