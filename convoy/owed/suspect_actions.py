"""What is due for candidates that CI found red, or ended without a verdict on. Pure."""

from collections.abc import Iterator

from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Task
from convoy.owed.actions import Action, Build, ClearWork, LookAgain, Reject, Stall
from convoy.owed.ci_findings import finding, judged
from convoy.owed.green_front import green_front, is_shown, landing
from convoy.owed.patience import Patience
from convoy.owed.red_company import company, is_waited_for
from convoy.readiness.landing import Chain, Link, suspects
from convoy.readiness.observed import Checks, Observed
from convoy.readiness.second_looks import LOST_MOST, is_due, is_to_blame
from convoy.readiness.turns import turns


def doubted_link(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed, tip: str, now: int
) -> tuple[Action, ...]:
    """Return what is due for the first link that is red or not judged; empty: none is.

    Those behind it stand on it, so they are not waited for, unless they are about to
    end and may show that they are red like it.
    """
    for place, link in enumerate(links if convoy.settings.require_ci else ()):
        checks = observed.checks.get(link.candidate.commit)
        if checks is None or checks.verdict not in ("red", "lost"):
            continue
        if checks.verdict == "red" and is_waited_for(
            links, place, observed.checks, now
        ):
            return ()
        is_alone = checks.verdict == "red" and link.candidate.base == tip
        also_red = company(links, place, observed.checks) if is_alone else ()
        return again(convoy, link.task, link.candidate, checks, also_red)
    return ()


def suspects_judged(
    convoy: Convoy,
    queue: Chain,
    observed: Observed,
    tip: str,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Yield what is due for work that was red: each is judged alone on the tip.

    Green, it lands at once where that undoes no more than a single other candidate;
    else it takes its place in the chain as soon as the tip has moved. While what is
    green lands, the tip is about to move.
    """
    waiting = suspects(convoy)
    first = turns(convoy) if waiting else {}
    room = convoy.settings.max_parallel - sum(map(_has_candidate, waiting))
    room = 0 if green_front(convoy, queue.links, observed) else room
    is_free = len(queue.links) <= 1
    for task in waiting:
        if task.candidate is None or not _has_candidate(task):
            action = _unjudged(convoy, task, tip)
            is_built = isinstance(action, Build)
            if action is not None and (room > 0 or not is_built):
                yield action
            room -= is_built
            continue
        link = Link(task, task.candidate)
        checks = observed.checks.get(link.candidate.commit)
        found = finding(convoy, link.candidate, checks, patience, now)
        if found == "green" and link.candidate.base != tip:
            yield ClearWork(convoy.name, task.number, link.candidate.commit)
        elif found == "green":
            if is_free and task.number not in first and is_shown(link):
                is_free = False
                yield from landing(convoy, (link,), observed, tip)
        elif found in ("red", "lost") and checks is not None:
            yield from again(convoy, task, link.candidate, checks)
        else:
            number, candidate = task.number, link.candidate
            yield from judged(convoy, number, candidate, checks, patience, now)


def _has_candidate(task: Task) -> bool:
    candidate, work = task.candidate, task.work
    return bool(candidate and work and candidate.work == work.commit)


def _unjudged(convoy: Convoy, task: Task, tip: str) -> Action | None:
    """Return what is due for red work that CI is not judging now."""
    doubt = task.doubted
    if doubt is not None and is_to_blame(convoy, task):
        return Reject(convoy.name, task.number, doubt.candidate, doubt.why)
    if is_due(convoy, task, tip):
        return Build(convoy.name, (task.number,), tip)
    return None


def again(
    convoy: Convoy,
    task: Task,
    candidate: Candidate,
    checks: Checks,
    also_red: tuple[int, ...] = (),
) -> tuple[Action, ...]:
    """Return that nobody is blamed yet; CI that never judges it needs a person."""
    is_red = checks.verdict == "red"
    name, number, commit = convoy.name, task.number, candidate.commit
    said = checks.text, checks.failed
    look = LookAgain(name, number, commit, *said, is_red, also_red)
    lost = task.doubted.lost if task.doubted else 0
    if is_red or lost + 1 < LOST_MOST:
        return (look,)
    return (look, Stall(name, number, commit, checks.text))
