"""The actions due for accepted work: trials, candidates, landings. Pure.

What is green in front of the merge queue lands; what CI found red, or ended without a
verdict on, is doubted before anybody is blamed.
"""

from collections.abc import Iterator, Sequence

from convoy.kinds import kind_of, trial
from convoy.kinds.rivals import NONE_LEFT, is_open_choice, rivals_left, rivals_under_way
from convoy.kinds.task_kinds import Trial
from convoy.model import ids
from convoy.model.ids import task_item
from convoy.model.state import Convoy, Task
from convoy.model.work import LOST_MOST, Candidate
from convoy.owed import (
    Action,
    Align,
    Block,
    Build,
    BuildConvoy,
    BuildSync,
    ClearWork,
    Land,
    LandSync,
    LookAgain,
    Note,
    Patience,
    Prove,
    Reject,
    Stall,
    Try,
)
from convoy.owed.ci_findings import finding, is_green, verdict_actions
from convoy.owed.last_step import last_step
from convoy.rules.ending import MakeChoice
from convoy.rules.landing import (
    Chain,
    Link,
    chain,
    foreign_tip,
    given_onto,
    may_take_target_in,
    own_tip,
    suspects,
    sync_on_tip,
    took_target_lately,
)
from convoy.rules.turns import turns
from convoy.rules.verdict import Checks, Observed

NOT_RED = "CI is green with these tests and without the code: none of them fails"


def merges(
    convoy: Convoy,
    observed: Observed,
    patience: Patience,
    now: int,
    given: Sequence[Convoy] = (),
) -> Iterator[Action]:
    """Yield the actions due for a convoy's merge queue, or for its own landing.

    `given` are those that land a pull request that was given to them.
    """
    tip = own_tip(convoy, observed.refs)
    if tip is None or convoy.kept_by or convoy.state not in ("active", "paused"):
        return
    if foreign_tip(convoy, observed.refs):
        return
    if convoy.settled:
        if not convoy.withdrawn and convoy.taken_out is None:
            yield from _convoy_merge(convoy, observed, patience, now, given)
        return
    yield from _trials(convoy, observed, patience, now)
    yield from _choices(convoy)
    queue = chain(convoy, tip)
    sync = sync_on_tip(convoy, tip)
    if sync is not None:
        yield from _sync_judged(convoy, sync, observed, patience, now)
    elif not queue.links and (target := _moved(convoy, observed, patience, now)):
        yield BuildSync(convoy.name, target)
        return
    else:
        yield from _front(convoy, queue, observed, tip, patience, now)
    yield from suspects_judged(convoy, queue, observed, tip, patience, now)
    if doubted := doubted_link(convoy, queue.links, observed):
        yield from doubted
        return
    if queue.unbuilt:
        numbers = tuple(task.number for task in queue.unbuilt)
        yield Build(convoy.name, numbers, queue.onto)


def _moved(convoy: Convoy, observed: Observed, patience: Patience, now: int) -> str:
    """Return the commit of the target that is to be taken in now; empty: none is."""
    target = observed.refs.get(ids.HEADS + convoy.target, "")
    if not (convoy.settings.sync and target and may_take_target_in(convoy, target)):
        return ""
    return "" if took_target_lately(convoy, now, patience.sync_s) else target


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
        yield from verdict_actions(convoy, 0, sync, checks, patience, now)


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
    yield from landing_actions(convoy, green, observed, tip)
    if queue.links and not green and convoy.settings.require_ci:
        front = queue.links[0]
        checks = observed.checks.get(front.candidate.commit)
        number, candidate = front.task.number, front.candidate
        if checks is None or checks.verdict not in ("red", "lost"):
            yield from verdict_actions(convoy, number, candidate, checks, patience, now)


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
        yield from doubt_actions(convoy, task, candidate, checks)
    else:
        yield from verdict_actions(
            convoy, task.number, candidate, checks, patience, now
        )


def _choices(convoy: Convoy) -> Iterator[Action]:
    """Choose the only rival left, and ask a person if there is none."""
    for task in convoy.tasks:
        if not is_open_choice(task) or rivals_under_way(convoy, task):
            continue
        found = rivals_left(convoy, task)
        if not found:
            yield Block(convoy.name, task.number, NONE_LEFT)
        elif len(found) == 1:
            choose = MakeChoice(convoy=convoy.name, task=task.number)
            yield Note("refinery", task_item(convoy.name, task.number), choose)


def _convoy_merge(
    convoy: Convoy,
    observed: Observed,
    patience: Patience,
    now: int,
    given: Sequence[Convoy],
) -> Iterator[Action]:
    tip = observed.refs.get(ids.HEADS + convoy.target)
    work = own_tip(convoy, observed.refs)
    if tip is None or work is None or convoy.sync.stalled:
        return
    if convoy.lands_given is None and may_take_target_in(convoy, tip):
        sync = sync_on_tip(convoy, work)
        if sync is None or sync.work != tip:
            yield BuildSync(convoy.name, tip)
        else:
            yield from _sync_judged(convoy, sync, observed, patience, now)
        return
    candidate, onto = convoy.candidate, tip
    if convoy.lands_given is not None and not (onto := given_onto(convoy, tip, given)):
        return
    # It is of the branch's tip, or is where the branch moved to it.
    held = (candidate.work, candidate.commit) if candidate else ()
    if candidate is None or candidate.base != onto or work not in held:
        yield BuildConvoy(convoy.name, onto)
        return
    checks = observed.checks.get(candidate.commit)
    if is_green(convoy, checks):
        if onto == tip:
            yield from last_step(convoy, candidate, observed)
    else:
        yield from verdict_actions(convoy, 0, candidate, checks, patience, now)


def green_front(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed
) -> tuple[Link, ...]:
    """Return the links that may land, from the front on."""
    for position, link in enumerate(links):
        checks = observed.checks.get(link.candidate.commit)
        if not is_shown(convoy, link, observed) or not is_green(convoy, checks):
            return links[:position]
    return links


def is_shown(convoy: Convoy, link: Link, observed: Observed) -> bool:
    """Whether the forge has the work from an earlier push, and any pull request of it.

    A pull request that was only just opened, or found again after a crash, may have
    been closed since: it is looked at before anything lands.
    """
    pull, work = link.task.pull, link.task.work
    if work is None or not work.log:
        return False
    return pull in observed.pulls or not (pull or convoy.shows_work(work.ci_files))


def landing_actions(
    convoy: Convoy, green: tuple[Link, ...], observed: Observed, tip: str
) -> Iterator[Action]:
    """Move the branches of the green tasks first; once they are there, land.

    Both in one push would let the forge see the base move first, and the pull request
    would show as closed instead of merged.
    """
    if not green:
        return
    behind: list[int] = []
    for link in green:
        takes_in = kind_of(link.task.spec).takes_target_in  # its work is no ancestor
        branch = ids.HEADS + ids.task_branch(convoy.name, link.task.number)
        is_there = observed.refs.get(branch) == link.candidate.commit
        if not is_there and (convoy.settings.strategy != "merge" or takes_in):
            behind.append(link.task.number)
    if behind:
        yield Align(convoy.name, tuple(behind))
    else:
        yield Land(convoy.name, tuple(link.task.number for link in green), tip)


def doubted_link(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed
) -> tuple[Action, ...]:
    """Return what is due for the first link that is red or not judged; empty: none is.

    Those behind it stand on it, so they are not waited for.
    """
    for link in links if convoy.settings.require_ci else ():
        checks = observed.checks.get(link.candidate.commit)
        if checks is not None and checks.verdict in ("red", "lost"):
            return doubt_actions(convoy, link.task, link.candidate, checks)
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

    Red there, too, its task is to blame. Green, it lands at once where that undoes no
    more than a single other candidate; else it takes its place in the chain as soon as
    the tip has moved. While what is green lands, the tip is about to move.
    """
    waiting = suspects(convoy)
    first = turns(convoy) if waiting else {}
    room = convoy.settings.max_parallel - sum(t.candidate is not None for t in waiting)
    room = 0 if green_front(convoy, queue.links, observed) else room
    is_free = len(queue.links) <= 1
    for task in waiting:
        number, candidate = task.number, task.candidate
        if candidate is None:
            if room > 0:
                yield Build(convoy.name, (number,), tip)
            room -= 1
            continue
        link = Link(task, candidate)
        checks = observed.checks.get(candidate.commit)
        found = finding(convoy, candidate, checks, patience, now)
        if found == "green" and candidate.base != tip:
            yield ClearWork(convoy.name, number, candidate.commit)
        elif found == "green":
            if is_free and number not in first and is_shown(convoy, link, observed):
                is_free = False
                yield from landing_actions(convoy, (link,), observed, tip)
        elif found == "lost" and checks is not None:
            yield from doubt_actions(convoy, task, candidate, checks)
        else:
            yield from verdict_actions(convoy, number, candidate, checks, patience, now)


def doubt_actions(
    convoy: Convoy, task: Task, candidate: Candidate, checks: Checks
) -> tuple[Action, ...]:
    """Return that nobody is blamed yet; CI that never judges it needs a person."""
    is_red = checks.verdict == "red"
    name, number, commit = convoy.name, task.number, candidate.commit
    look = LookAgain(name, number, commit, checks.text, checks.failed, is_red)
    lost = task.doubted.lost if task.doubted else 0
    if is_red or lost + 1 < LOST_MOST:
        return (look,)
    return (look, Stall(name, number, commit, checks.text))
