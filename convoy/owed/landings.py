"""The actions due for accepted work: trials, candidates, landings. Pure."""

from collections.abc import Iterator
from typing import Literal

from convoy.kinds import kind_of
from convoy.kinds.choice_kind import NONE_LEFT, is_open, left, under_way
from convoy.kinds.relations import trial
from convoy.kinds.task_kind import Trial
from convoy.model import ids
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Task
from convoy.owed.actions import (
    Action,
    Align,
    Block,
    Build,
    BuildConvoy,
    BuildSync,
    Choose,
    Land,
    LandSync,
    Prove,
    Reject,
    Stall,
    Try,
)
from convoy.owed.last_step import last_step
from convoy.owed.patience import Patience
from convoy.readiness.landing import Chain, Link, chain
from convoy.readiness.observed import Checks, Observed
from convoy.readiness.target_moves import comes_first, is_soon, may_take_in, on_tip
from convoy.readiness.unlanded_work import wants_part

NO_CI = (
    "no check has reported on the candidate, and no commit status: set [ci] command "
    "(local) or let CI run on pushes to brat/queue/**, or set [refinery] require_ci = "
    "false"
)


NOT_RED = "CI is green with these tests and without the code: none of them fails"


Finding = Literal["waiting", "silent", "red", "green", "broken"]
"""CI's verdict on a candidate; silent: no check began on it in time; broken: CI cannot
judge it before a person has acted."""


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
    if _is_green(convoy, checks):
        yield LandSync(convoy.name, sync.base)
    else:
        yield from _judged(convoy, 0, sync, checks, patience, now)


def _front(
    convoy: Convoy,
    queue: Chain,
    observed: Observed,
    tip: str,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Land what is green in front, or act on CI's verdict against the first."""
    green = _green_front(convoy, queue.links, observed)
    yield from _landing(convoy, green, observed, tip)
    if queue.links and not green and convoy.settings.require_ci:
        front = queue.links[0]
        checks = observed.checks.get(front.candidate.commit)
        number, candidate = front.task.number, front.candidate
        yield from _judged(convoy, number, candidate, checks, patience, now)


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
    if candidate is None or candidate.commit != work:
        yield Try(name, task.number)
        return
    checks = observed.checks.get(work)
    found = _finding(convoy, candidate, checks, patience, now)
    if found == wanted:
        yield Prove(name, task.number, work)
    elif found == "green":
        yield Reject(name, task.number, work, NOT_RED)
    else:
        yield from _judged(convoy, task.number, candidate, checks, patience, now)


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


def _green_front(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed
) -> tuple[Link, ...]:
    """Return the links that may land, from the front on."""
    for position, link in enumerate(links):
        checks = observed.checks.get(link.candidate.commit)
        if not _is_shown(link) or not _is_green(convoy, checks):
            return links[:position]
    return links


def _is_shown(link: Link) -> bool:
    """Whether the forge has the pull request and, from an earlier push, the work."""
    pull, work = link.task.pull, link.task.work
    return pull is not None and work is not None and work.log != ""


def _is_green(convoy: Convoy, checks: Checks | None) -> bool:
    if not convoy.settings.require_ci:
        return True
    return checks is not None and checks.verdict == "green"


def _landing(
    convoy: Convoy, green: tuple[Link, ...], observed: Observed, tip: str
) -> Iterator[Action]:
    """Move the branches of the green tasks first; once they are there, land.

    Both in one push would let the forge see the base move first, and the pull request
    would show as closed instead of merged.
    """
    if not green:
        return
    behind = tuple(
        link.task.number for link in green if _must_align(convoy, link, observed)
    )
    if behind:
        yield Align(convoy.name, behind)
    else:
        yield Land(convoy.name, tuple(link.task.number for link in green), tip)


def _must_align(convoy: Convoy, link: Link, observed: Observed) -> bool:
    takes_in = kind_of(link.task.spec).takes_target_in  # its own work is no ancestor
    if convoy.settings.strategy == "merge" and not takes_in:
        return False
    branch = ids.HEADS + ids.task_branch(convoy.name, link.task.number)
    return observed.refs.get(branch) != link.candidate.commit


def _finding(
    convoy: Convoy,
    candidate: Candidate,
    checks: Checks | None,
    patience: Patience,
    now: int,
) -> Finding:
    if not convoy.settings.require_ci:
        return "green"
    if checks is None or checks.verdict == "pending":
        return "waiting"
    if checks.verdict != "none":
        return checks.verdict
    is_late = now > candidate.at + patience.check_start_s * 1000
    return "silent" if is_late else "waiting"


def _judged(
    convoy: Convoy,
    task: int,
    candidate: Candidate,
    checks: Checks | None,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Act on CI's verdict against a candidate; task 0 is the convoy itself."""
    found = _finding(convoy, candidate, checks, patience, now)
    if found == "red" and checks is not None:
        yield Reject(convoy.name, task, candidate.commit, checks.text)
    elif found == "broken" and checks is not None:
        yield Stall(convoy.name, task, candidate.commit, checks.text)
    elif found == "silent":
        yield Block(convoy.name, task, NO_CI)


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
    if _is_green(convoy, checks):
        yield from last_step(convoy, candidate, observed)
    else:
        yield from _judged(convoy, 0, candidate, checks, patience, now)
