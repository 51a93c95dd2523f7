"""The actions due for accepted work: trials, candidates, landings. Pure."""

from collections.abc import Iterator

from convoy.kinds.choice_kind import NONE_LEFT, is_open, left, under_way
from convoy.kinds.relations import trial
from convoy.kinds.task_kind import Trial
from convoy.model import ids
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Task
from convoy.owed.actions import (
    Action,
    Block,
    Build,
    BuildConvoy,
    BuildSync,
    Choose,
    LandSync,
    Prove,
    Reject,
    Try,
)
from convoy.owed.ci_findings import finding, is_green, judged
from convoy.owed.green_front import green_front, landing
from convoy.owed.last_step import last_step
from convoy.owed.patience import Patience
from convoy.owed.suspect_actions import again, doubted_link, suspects_judged
from convoy.readiness.landing import Chain, chain
from convoy.readiness.observed import Observed
from convoy.readiness.target_moves import comes_first, is_soon, may_take_in, on_tip
from convoy.readiness.unlanded_work import wants_part

NOT_RED = "CI is green with these tests and without the code: none of them fails"


def merges(
    convoy: Convoy, observed: Observed, patience: Patience, now: int
) -> Iterator[Action]:
    """Yield the actions due for a convoy's merge queue, or for its own landing."""
    tip = observed.refs.get(ids.HEADS + ids.base_branch(convoy.name))
    if tip is None or convoy.kept_by or convoy.state not in ("active", "paused"):
        return
    if convoy.settled:
        if not convoy.withdrawn and convoy.taken_out is None:
            yield from _convoy_merge(convoy, observed, patience, now)
        return
    yield from _trials(convoy, observed, patience, now)
    yield from _choices(convoy)
    queue = chain(convoy, tip)
    sync = on_tip(convoy, tip)
    if sync is not None:
        yield from _sync_judged(convoy, sync, observed, patience, now)
    elif not queue.links and (target := _moved(convoy, observed, patience, now)):
        yield BuildSync(convoy.name, target)
        return
    else:
        yield from _front(convoy, queue, observed, tip, patience, now)
    yield from suspects_judged(convoy, queue, observed, tip, patience, now)
    if doubted := doubted_link(convoy, queue.links, observed, tip, now):
        yield from doubted
        return
    target = observed.refs.get(ids.HEADS + convoy.target, "")
    if queue.unbuilt and (sync is not None or not comes_first(convoy, target)):
        numbers = tuple(task.number for task in queue.unbuilt)
        yield Build(convoy.name, numbers, queue.onto)


def _moved(convoy: Convoy, observed: Observed, patience: Patience, now: int) -> str:
    """Return the commit of the target that is to be taken in now; empty: none is."""
    target = observed.refs.get(ids.HEADS + convoy.target, "")
    if target and comes_first(convoy, target):
        return target
    syncs = convoy.settings.sync or wants_part(convoy)
    wanted = syncs and target and may_take_in(convoy, target)
    return target if wanted and not is_soon(convoy, now, patience.sync_s) else ""


def _sync_judged(
    convoy: Convoy,
    sync: Candidate,
    observed: Observed,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Move the branch to what takes the target in, or act on CI's verdict against."""
    checks = observed.checks.get(sync.commit)
    if is_green(convoy, checks):
        yield LandSync(convoy.name, sync.base)
    else:
        yield from judged(convoy, 0, sync, checks, patience, now)


def _front(
    convoy: Convoy,
    queue: Chain,
    observed: Observed,
    tip: str,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Land what is green in front, or say that CI cannot judge the first.

    What is red, in front or behind, is doubted by `doubted_link`.
    """
    green = green_front(convoy, queue.links, observed)
    yield from landing(convoy, green, observed, tip)
    if queue.links and not green and convoy.settings.require_ci:
        front = queue.links[0]
        checks = observed.checks.get(front.candidate.commit)
        number, candidate = front.task.number, front.candidate
        if checks is None or checks.verdict not in ("red", "lost"):
            yield from judged(convoy, number, candidate, checks, patience, now)


def _trials(
    convoy: Convoy, observed: Observed, patience: Patience, now: int
) -> Iterator[Action]:
    """Let CI see tests red before their code exists, and each rival's work green."""
    for task in convoy.tasks:
        if task.state != "needs-review" or task.is_proven or task.work is None:
            continue
        if task.waits_aside:
            continue
        if wanted := trial(convoy, task):
            yield from _trial(convoy, task, wanted, observed, patience, now)


def _trial(
    convoy: Convoy,
    task: Task,
    wanted: Trial,
    observed: Observed,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    name, candidate = convoy.name, task.candidate
    work = task.work.commit if task.work else ""
    if not convoy.settings.require_ci:
        yield Prove(name, task.number, work)
        return
    if candidate is None or candidate.work != work:
        yield Try(name, task.number)
        return
    checks = observed.checks.get(candidate.commit)
    found = finding(convoy, candidate, checks, patience, now)
    if found == wanted:
        yield Prove(name, task.number, work)
    elif found == "green":
        yield Reject(name, task.number, candidate.commit, NOT_RED)
    elif found == "lost" and checks is not None:
        yield from again(convoy, task, candidate, checks)
    else:
        yield from judged(convoy, task.number, candidate, checks, patience, now)


def _choices(convoy: Convoy) -> Iterator[Action]:
    """Choose the only rival left, and ask a person if there is none."""
    for task in convoy.tasks:
        if not is_open(task) or under_way(convoy, task):
            continue
        found = left(convoy, task)
        if not found:
            yield Block(convoy.name, task.number, NONE_LEFT)
        elif len(found) == 1:
            yield Choose(convoy.name, task.number)


def _holds(candidate: Candidate, tip: str) -> bool:
    """Whether a candidate is of a branch's tip, or is where the branch moved to it."""
    return tip in (candidate.work, candidate.commit)


def _convoy_merge(
    convoy: Convoy, observed: Observed, patience: Patience, now: int
) -> Iterator[Action]:
    tip = observed.refs.get(ids.HEADS + convoy.target)
    work = observed.refs.get(ids.HEADS + ids.base_branch(convoy.name))
    if tip is None or work is None or convoy.sync.stalled:
        return
    if may_take_in(convoy, tip):
        sync = on_tip(convoy, work)
        if sync is None or sync.work != tip:
            yield BuildSync(convoy.name, tip)
        else:
            yield from _sync_judged(convoy, sync, observed, patience, now)
        return
    candidate = convoy.candidate
    if candidate is None or candidate.base != tip or not _holds(candidate, work):
        yield BuildConvoy(convoy.name, tip)
        return
    checks = observed.checks.get(candidate.commit)
    if is_green(convoy, checks):
        yield from last_step(convoy, candidate, observed)
    else:
        yield from judged(convoy, 0, candidate, checks, patience, now)
