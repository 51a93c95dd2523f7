"""The actions that are due, as data.

Staged actions change git; effects change the forge.
"""

from typing import Final, Literal, get_args

from msgspec import Struct

from convoy.model.intent import Intent
from convoy.model.taken_out import TakenOut
from convoy.model.target_rules import Landing
from convoy.readiness.needs import Need


class MakePlan(Struct, frozen=True):
    """Turn the convoy's frozen text into tasks."""

    convoy: str


class BeginPlan(Struct, frozen=True):
    """Start the next session that plans the convoy."""

    convoy: str


class CreateBase(Struct, frozen=True):
    """Push the convoy's shared branch at `commit`; it must not exist."""

    convoy: str
    commit: str


class Split(Struct, frozen=True):
    """Let the mayor split what was too much for one agent."""

    convoy: str
    task: int


class Begin(Struct, frozen=True):
    """Start the task's next attempt from `base`."""

    convoy: str
    task: int
    base: str


class Collect(Struct, frozen=True):
    """Take in the result of a run that has ended."""

    convoy: str
    task: int
    run: int
    called_off: bool = False
    """Whether the run was cancelled though its time was not over."""


class Build(Struct, frozen=True):
    """Build candidates of these tasks, one on the other, the first on `onto`."""

    convoy: str
    tasks: tuple[int, ...]
    onto: str


class Try(Struct, frozen=True):
    """Let CI judge work as it is: tests before their code exists, or a rival's work."""

    convoy: str
    task: int


class Prove(Struct, frozen=True):
    """CI found work as it should be: tests red, a rival's green."""

    convoy: str
    task: int
    work: str


class Choose(Struct, frozen=True):
    """Let the only remaining rival land."""

    convoy: str
    task: int


class BuildSync(Struct, frozen=True):
    """Take this commit of the target into the convoy's branch, as a candidate."""

    convoy: str
    target: str


class LandSync(Struct, frozen=True):
    """Move the convoy's branch from `tip` to the candidate that takes the target in."""

    convoy: str
    tip: str


class BuildConvoy(Struct, frozen=True):
    """Build the convoy's own candidate on the target's tip."""

    convoy: str
    onto: str


class Align(Struct, frozen=True):
    """Move these tasks' branches to their candidates, so that they show as merged."""

    convoy: str
    tasks: tuple[int, ...]


class Land(Struct, frozen=True):
    """Move the convoy's branch from `tip` over these tasks' candidates."""

    convoy: str
    tasks: tuple[int, ...]
    tip: str


class LandConvoy(Struct, frozen=True):
    """Move the target branch from `tip` to the convoy's candidate."""

    convoy: str
    tip: str


class LandPart(Struct, frozen=True):
    """Move the target from `tip` to what is finished of the convoy."""

    convoy: str
    tip: str


class OfferPart(Struct, frozen=True):
    """Show what is finished by a branch, for the forge or a person to merge it."""

    convoy: str
    candidate: str


class TakePart(Struct, frozen=True):
    """The forge shows the pull request of a part as merged."""

    convoy: str
    commit: str
    tip: str
    """What its branch stood at."""


class DropPart(Struct, frozen=True):
    """What is finished of the convoy cannot land by itself."""

    convoy: str
    candidate: str
    why: str


class ChooseWay(Struct, frozen=True):
    """The rules of the target ask for another way of landing than the log says."""

    convoy: str
    landing: Landing


class AlignConvoy(Struct, frozen=True):
    """Move the convoy's branch to its green candidate, so that the forge merges it."""

    convoy: str
    candidate: str


class AskMerge(Struct, frozen=True):
    """Announce that the forge is asked to merge the convoy's pull request."""

    convoy: str
    candidate: str


class Wait(Struct, frozen=True):
    """The forge asks for this before it merges; empty: for nothing any more."""

    convoy: str
    why: str


class OpenAnother(Struct, frozen=True):
    """The convoy's pull request was merged before its branch held all of the work."""

    convoy: str
    pull: int


class TakeLanded(Struct, frozen=True):
    """The forge shows the convoy's pull request as merged."""

    convoy: str
    commit: str


class Reject(Struct, frozen=True):
    """CI found the front candidate red; task 0 is the convoy's own, or a sync's."""

    convoy: str
    task: int
    candidate: str
    text: str


class LookAgain(Struct, frozen=True):
    """CI found a candidate red, or ended without a verdict: it is judged again."""

    convoy: str
    task: int
    candidate: str
    text: str
    checks: tuple[str, ...]
    is_red: bool
    also_red: tuple[int, ...] = ()
    """The tasks whose candidates stand on it, in order, and are red by the same checks.
    """


class ClearWork(Struct, frozen=True):
    """CI found work green that was red: it waits to land like any other."""

    convoy: str
    task: int
    candidate: str


class Stall(Struct, frozen=True):
    """CI cannot judge the front candidate before a person has mended CI.

    Task 0 is the convoy's own. The work is set aside and stays as it is.
    """

    convoy: str
    task: int
    candidate: str
    text: str


class Block(Struct, frozen=True):
    """The task (0: the convoy's landing) cannot go on without a person."""

    convoy: str
    task: int
    why: str
    splits: bool = False
    """Whether smaller tasks may do what it cannot."""


class HearIssue(Struct, frozen=True):
    """A person did something to the convoy's issue by hand."""

    convoy: str
    gesture: Literal["closed", "reopened", "unlabelled", "deleted", "transferred"]
    by: str = ""
    """Who did it, where the forge tells."""


class HearBase(Struct, frozen=True):
    """A person deleted the convoy's shared branch, or it is there again."""

    convoy: str
    there: bool


class HearDequeue(Struct, frozen=True):
    """A person took the convoy's pull request out of the forge's merge queue."""

    convoy: str
    by: str


class TakeOut(Struct, frozen=True):
    """A person took work out by hand; task 0 is the convoy itself."""

    convoy: str
    task: int
    out: TakenOut


class TakeBack(Struct, frozen=True):
    """A person took work back by hand; task 0 is the convoy itself."""

    convoy: str
    task: int


class Defer(Struct, frozen=True):
    """The task does not start before `until` (unix ms): the day's money is spent."""

    convoy: str
    task: int
    until: int
    why: str


class Pause(Struct, frozen=True):
    """Nothing new starts in the convoy until a person resumes it."""

    convoy: str
    why: str
    tell: bool
    """Whether its issue is told; if several pause at once, only the first one's is."""


class Call(Struct, frozen=True):
    """Tell people in a new comment, which notifies them, what waits for them."""

    convoy: str
    needs: tuple[Need, ...]


class Sweep(Struct, frozen=True):
    """Delete refs nobody needs, each only if it is still at the commit seen."""

    refs: tuple[tuple[str, str], ...]


class Expire(Struct, frozen=True):
    """Free a lease that has run out."""

    resource: str
    nonce: str


class TakeUp(Struct, frozen=True):
    """Try again what was set aside: its time has come."""

    item: str


class Faulty(Struct, frozen=True):
    """The rules themselves fail for this convoy: set it aside, and tell."""

    convoy: str
    why: str


class Do(Struct, frozen=True):
    """Carry out an announced action."""

    intent: Intent


class CancelRun(Struct, frozen=True):
    """Cancel a run that is past its deadline or whose work is no longer wanted."""

    run: int
    force: bool = False
    """Whether to force it, because it did not end when asked to."""


Shown = Literal["labels", "checks", "comment"]
SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)


class Show(Struct, frozen=True):
    """Bring a part of what people are shown of a convoy up to date."""

    convoy: str
    part: Shown


Staged = (
    MakePlan
    | BeginPlan
    | CreateBase
    | Begin
    | Split
    | Collect
    | Build
    | Try
    | Prove
    | Choose
    | BuildSync
    | LandSync
    | BuildConvoy
    | Align
    | Land
    | LandConvoy
    | LandPart
    | OfferPart
    | TakePart
    | DropPart
    | ChooseWay
    | AlignConvoy
    | AskMerge
    | Wait
    | TakeLanded
    | OpenAnother
    | Reject
    | LookAgain
    | ClearWork
    | Stall
    | Block
    | HearIssue
    | HearBase
    | HearDequeue
    | TakeOut
    | TakeBack
    | Defer
    | Pause
    | Call
    | Sweep
    | Expire
    | TakeUp
    | Faulty
)


class CancelCi(Struct, frozen=True):
    """Cancel a run of CI on a candidate that nobody needs any more."""

    run: int


Effect = Do | CancelRun | CancelCi | Show
Action = Staged | Effect
