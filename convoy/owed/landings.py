"""The actions due for accepted work: trials, candidates, landings, the last step. Pure.

What is green in front of the merge queue lands; what CI found red, or ended without a
verdict on, is doubted before anybody is blamed.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from convoy import owed
from convoy.events import hold_events, merge_events
from convoy.events.task_events import ConvoyFailed
from convoy.kinds import kind_of, trial
from convoy.kinds.rivals import NONE_LEFT, is_open_choice, rivals_left, rivals_under_way
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.model.work import LOST_MOST, Candidate, Landing
from convoy.owed import Action, Hear, Look, Note
from convoy.rules import landing
from convoy.rules.ending import MakeChoice
from convoy.rules.observed import Mergeable, Observed
from convoy.rules.people import BlockTask
from convoy.rules.target import asked_for, landing_by, learnt_of
from convoy.rules.turns import turns
from convoy.rules.verdict import Checks
from convoy.text import clock
from convoy.text.project_tests import headline

NOT_RED = "CI is green on these tests without the code; at least one test must fail"


def merges(
    convoy: Convoy, look: Look, given: Sequence[Convoy] = ()
) -> Iterator[Action]:
    """Yield the actions due for a convoy's merge queue, or for its own landing.

    `given` are those that land a pull request that was given to them.
    """
    tip = landing.own_tip(convoy, look.observed.refs)
    if tip is None or convoy.kept_by or convoy.state not in ("active", "paused"):
        return
    if landing.foreign_tip(convoy, look.observed.refs):
        return
    if convoy.settled:
        if not convoy.kept_back:
            yield from _convoy_merge(convoy, tip, look, given)
        return
    yield from _trials(convoy, look)
    yield from _choices(convoy)
    queue = landing.chain(convoy, tip)
    sync = landing.sync_on_tip(convoy, tip)
    if sync is not None:
        yield from _sync_judged(convoy, sync, look)
    elif not queue.links and (target := _moved(convoy, look)):
        yield owed.BuildSync(convoy.name, target)
        return
    else:
        green = green_front(convoy, queue.links, look)
        yield from landing_actions(convoy, green, look, tip)
    yield from suspects_judged(convoy, queue, tip, look)
    for position, link in enumerate(queue.links):
        about = link.task.number, link.candidate, look
        if finding(convoy, link.candidate, look) in ("red", "lost"):
            again = judged_on_top(convoy, queue.links, position, look)
            if again != "waiting":
                is_first = again != "red"
                yield from verdict_actions(convoy, *about, is_first=is_first)
            return
        if position == 0 and sync is None:  # who is behind waits for the front
            yield from verdict_actions(convoy, *about)
    if queue.unbuilt:
        numbers = tuple(task.number for task in queue.unbuilt)
        yield owed.Build(convoy.name, numbers, queue.onto)


def _moved(convoy: Convoy, look: Look) -> str:
    """Return the commit of the target that is to be taken in now; empty: none is."""
    target = look.tip(convoy.target)
    is_urgent = any(task.on_target for task in convoy.tasks)  # a person's is lacking
    wanted = convoy.settings.sync or is_urgent
    if not (wanted and target and landing.may_take_target_in(convoy, target)):
        return ""
    if is_urgent:
        return target
    sync = convoy.sync  # what was taken in, or tried, lately
    again = sync.at + look.patience.sync_s * 1000
    return "" if not sync.reds and sync.at and look.now < again else target


def _sync_judged(convoy: Convoy, sync: Candidate, look: Look) -> Iterator[Action]:
    """Move the branch to what takes the target in, or act on CI's verdict against."""
    if finding(convoy, sync, look) == "green":
        yield owed.LandSync(convoy.name, sync.base)
    else:
        yield from verdict_actions(convoy, 0, sync, look)


def _trials(convoy: Convoy, look: Look) -> Iterator[Action]:
    """Let CI see tests red before their code exists, and each rival's work green."""
    for task in convoy.tasks:
        is_done = task.state != "needs-review" or task.is_proven or task.waits_aside
        wanted = None if is_done else trial(convoy, task)
        if wanted is None or task.work is None:
            continue
        name, number, work = convoy.name, task.number, task.work.commit
        candidate = task.candidate
        if not convoy.settings.require_ci:
            yield owed.Prove(name, number, work)
        elif candidate is None or candidate.work != work:
            yield owed.Try(name, number)
        elif (found := finding(convoy, candidate, look)) == wanted:
            yield owed.Prove(name, number, work)
        elif found == "green":
            about = name, number, candidate.commit, NOT_RED
            yield owed.Reject(*about, is_red=False)
        else:
            yield from verdict_actions(convoy, number, candidate, look)


def _choices(convoy: Convoy) -> Iterator[Action]:
    """Choose the only rival left, and ask a person if there is none."""
    for task in convoy.tasks:
        if not is_open_choice(task) or rivals_under_way(convoy, task):
            continue
        found = rivals_left(convoy, task)
        if not found:
            stop = BlockTask(convoy=convoy.name, task=task.number, why=NONE_LEFT)
            yield Note("refinery", stop)
        elif len(found) == 1:
            yield Note("refinery", MakeChoice(convoy=convoy.name, task=task.number))


def _convoy_merge(
    convoy: Convoy, work: str, look: Look, given: Sequence[Convoy]
) -> Iterator[Action]:
    """Yield the convoy's own landing; its work stands at this commit."""
    tip = look.tip(convoy.target)
    gone = BRANCH_GONE.format(convoy.target)
    if bool(tip) == (convoy.landing_waits == gone):
        wait = merge_events.LandingWaits(convoy=convoy.name, why="" if tip else gone)
        yield Note("refinery", wait)
    if not tip or convoy.sync.stalled:
        return
    if convoy.lands_given is None and landing.may_take_target_in(convoy, tip):
        sync = landing.sync_on_tip(convoy, work)
        if sync is None or sync.work != tip:
            yield owed.BuildSync(convoy.name, tip)
        else:
            yield from _sync_judged(convoy, sync, look)
        return
    candidate, onto = convoy.candidate, landing.given_onto(convoy, tip, given)
    if not onto:
        return
    # It is of the branch's tip, or is where the branch moved to it.
    held = (candidate.work, candidate.commit) if candidate else ()
    if candidate is None or candidate.base != onto or work not in held:
        yield owed.BuildConvoy(convoy.name, onto)
        return
    if finding(convoy, candidate, look) == "green":
        if onto == tip:
            yield from last_step(convoy, candidate, look.observed)
    else:
        yield from verdict_actions(convoy, 0, candidate, look)


def green_front(
    convoy: Convoy, links: tuple[landing.Link, ...], look: Look
) -> tuple[landing.Link, ...]:
    """Return the links that may land, from the front on."""
    for position, link in enumerate(links):
        is_green = finding(convoy, link.candidate, look) == "green"
        if not is_green or not is_shown(convoy, link, look):
            return links[:position]
    return links


def judged_on_top(
    convoy: Convoy, links: Sequence[landing.Link], position: int, look: Look
) -> Literal["", "waiting", "red"]:
    """Return what the candidate on top says of a red one, whose work it has, too.

    Two runs of CI that fail alike need no third, if what both stand on was found green
    while they ran: else all may fail of one outage. Empty: it says nothing. Runs that
    have begun are waited for: they end before another one would.
    """
    candidate, running = links[position].candidate, ("pending", "")
    checks = look.checks(candidate)
    if checks is None or checks.verdict != "red":
        return ""
    below = look.checks(links[position - 1].candidate) if position else None
    if below is not None and (below.verdict, below.text) == running:
        return "waiting"
    landed = (t for t in convoy.tasks if not position and t.landed == candidate.base)
    is_green = any(task.ended_at >= candidate.at for task in landed)
    above = next((look.checks(each.candidate) for each in links[position + 1 :]), None)
    if above is None or not (is_green or (below and below.verdict == "green")):
        return ""
    if (above.verdict, above.text) == running:
        return "waiting"
    is_alike = above.verdict == "red" and above.failed == checks.failed
    return "red" if is_alike and headline(above.text) == headline(checks.text) else ""


def is_shown(convoy: Convoy, link: landing.Link, look: Look) -> bool:
    """Whether the forge has the work from an earlier push, and any pull request of it.

    A pull request that was only just opened, or found again after a crash, may have
    been closed since: it is looked at before anything lands.
    """
    pull, work = link.task.pull, link.task.work
    if work is None or not work.log:
        return False
    return pull in look.observed.pulls or not (pull or convoy.shows_work(work.ci_files))


def landing_actions(
    convoy: Convoy, green: tuple[landing.Link, ...], look: Look, tip: str
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
        branch = ids.task_branch(convoy.name, link.task.number)
        is_there = look.tip(branch) == link.candidate.commit
        if not is_there and (link.candidate.strategy != "merge" or takes_in):
            behind.append(link.task.number)
    if behind:
        yield owed.Align(convoy.name, tuple(behind))
    else:
        yield owed.Land(convoy.name, tuple(link.task.number for link in green), tip)


def suspects_judged(
    convoy: Convoy, queue: landing.Chain, tip: str, look: Look
) -> Iterator[Action]:
    """Yield what is due for work that was red: each is judged alone on the tip.

    Red there, too, its task is to blame. Green, it lands at once where that undoes no
    more than a single other candidate; else it takes its place in the chain as soon as
    the tip has moved. While what is green lands, the tip is about to move.
    """
    waiting = landing.suspects(convoy)
    first = turns(convoy) if waiting else {}
    room = convoy.settings.max_parallel - sum(t.candidate is not None for t in waiting)
    room = 0 if green_front(convoy, queue.links, look) else room
    is_free = len(queue.links) <= 1
    for task in waiting:
        number, candidate = task.number, task.candidate
        if candidate is None:
            if room > 0:
                yield owed.Build(convoy.name, (number,), tip)
            room -= 1
            continue
        link = landing.Link(task, candidate)
        checks, found = look.checks(candidate), finding(convoy, candidate, look)
        if found == "green" and candidate.base != tip:
            clear = landing.ClearMerge(
                convoy=convoy.name,
                task=number,
                candidate=candidate.commit,
                judged=landing.judged_by(convoy.settings, checks),
            )
            yield Note("refinery", clear)
        elif found == "green":
            if is_free and number not in first and is_shown(convoy, link, look):
                is_free = False
                yield from landing_actions(convoy, (link,), look, tip)
        else:
            yield from verdict_actions(convoy, number, candidate, look)


NEVER_STARTED: Final = "CI never started on the candidate"
NO_CI: Final = (
    "no check or commit status has been reported on the candidate: set [ci] command "
    "(local mode), make CI run on pushes to brat/queue/**, whichever paths change, or "
    "set [refinery] require_ci = false"
)

NOT_ENDED: Final = "it has not ended"
CI_MOST_MS: Final = 24 * ids.HOUR_MS
"""How long CI may go on, which has as long on GitHub until a runner takes its job.

A commit status that nobody ends stays pending for ever.
https://docs.github.com/actions/reference/limits
"""

CiFinding = Literal["waiting", "silent", "red", "lost", "green", "broken"]
"""CI's verdict on a candidate; silent: no check began on it in time; broken: CI cannot
judge it before a person has acted; lost: it ended without a verdict."""


def finding(convoy: Convoy, candidate: Candidate, look: Look) -> CiFinding:
    """Return CI's verdict on a candidate that was built at `candidate.at`."""
    checks = look.checks(candidate)
    if not convoy.settings.require_ci:
        return "green"
    if checks is None:
        return "waiting"
    late_ms = look.now - _began(candidate, checks)
    is_late = late_ms > look.patience.check_start_s * 1000
    if checks.verdict == "pending":  # with a text: on what may never come
        is_stuck = is_late if checks.text else late_ms > CI_MOST_MS
        return "broken" if is_stuck else "waiting"
    if checks.verdict != "none":
        return checks.verdict
    return "silent" if is_late else "waiting"


def _began(candidate: Candidate, checks: Checks) -> int:
    """Return since when nothing but a check that does not come is waited for."""
    return max(candidate.at, checks.since if checks.verdict == "pending" else 0)


def verdict_actions(
    convoy: Convoy,
    task: int,
    candidate: Candidate,
    look: Look,
    *,
    is_first: bool = False,
) -> Iterator[Action]:
    """Act on CI's verdict against a candidate; task 0 is the convoy itself.

    Of red work `is_first` says that nobody is blamed for it yet.
    """
    checks, found = look.checks(candidate), finding(convoy, candidate, look)
    if checks is None:
        return
    about, said = (convoy.name, task, candidate.commit), checks.text
    of_task = convoy.task(task)
    doubted = of_task.doubted if of_task else None
    lost = convoy.sync.lost if of_task is None else doubted.lost if doubted else 0
    is_last = lost + 1 >= LOST_MOST
    # Where CI never reported, its setup is at fault, which only a person can mend.
    has_spoken = any(each.landed or each.doubt for each in convoy.tasks)
    if found == "red" and not is_first:
        yield owed.Reject(*about, said)
    elif found in ("red", "lost"):
        is_red = found == "red"
        yield owed.LookAgain(*about, said, checks.failed, is_red=is_red)
        if not is_red and task and is_last:  # of a convoy its own rule counts them
            yield owed.Stall(*about, said)
    elif found == "broken":
        awaited = f" (waiting since {clock(_began(candidate, checks))})"
        is_awaited = checks.verdict == "pending"
        yield owed.Stall(*about, (said or NOT_ENDED) + awaited * is_awaited)
    elif found == "silent" and has_spoken and not is_last:
        yield owed.LookAgain(*about, NEVER_STARTED, (), is_red=False)
    elif found == "silent":
        why = said or NO_CI
        stop = BlockTask(convoy=convoy.name, task=task, why=why)
        stall = merge_events.LandingStalled(convoy=convoy.name, why=why)
        yield Note("refinery", stop if task else stall)


BEHIND = (
    "its branch is in a fork and lacks the latest {0}, which accepts only merged "
    "pull requests: its author must merge {0} into the branch"
)
BRANCH_GONE = (
    "the branch {}, which was deleted (restore it) or renamed (stop the convoy, and "
    "start the issue again)"
)
LEFT_QUEUE = "the forge's merge queue removed the pull request"


def ways(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield another way to land, by the target's rules, or that it landed elsewhere."""
    rules = observed.rules.get(convoy.target)
    is_fix = convoy.given is not None and not convoy.given.lands
    if rules is not None and not is_fix:  # to a pull request's branch we push
        known = convoy.landing or Landing()
        learnt = learnt_of(known, convoy.set_aside if convoy.settled else None)
        chosen = landing_by(rules, bypass=convoy.settings.bypass, learnt=learnt)
        if chosen != convoy.landing:
            yield Note(
                None, merge_events.LandingChosen(convoy=convoy.name, landing=chosen)
            )
    if convoy.settled and (commit := landing.merged_commit(convoy, observed)):
        yield owed.TakeLanded(convoy.name, commit)


def last_step(
    convoy: Convoy, candidate: Candidate, observed: Observed
) -> Iterator[Action]:
    pull, chosen = convoy.pull, convoy.landing or Landing()
    if pull is None or chosen.way == "push":
        is_all_there = candidate.commit == candidate.base
        # What mends a given pull request goes to its branch, and has none of its own.
        if pull is not None or is_all_there or convoy.given is not None:
            yield owed.LandConvoy(convoy.name, candidate.base)
        return
    seen = observed.mergeable.get(pull)  # None: the next look shows it
    given = convoy.lands_given
    is_there = landing.own_tip(convoy, observed.refs) == candidate.commit
    if not is_there and given is not None and not given.branch:
        end = ConvoyFailed(convoy=convoy.name, why=BEHIND.format(convoy.target))
        yield Note("refinery", end)
    elif not is_there:
        yield owed.AlignConvoy(convoy.name, candidate.commit)
    elif seen is not None and seen.merged:  # before its branch held all of the work
        yield Note(
            "refinery", merge_events.PullMergedEarly(convoy=convoy.name, pull=pull)
        )
    elif seen is not None and seen.head == candidate.commit:
        yield from _asked(convoy, chosen, candidate, seen)


def _asked(
    convoy: Convoy, chosen: Landing, candidate: Candidate, seen: Mergeable
) -> Iterator[Action]:
    waits = asked_for(convoy, seen)
    if waits != convoy.landing_waits:
        yield Note("refinery", merge_events.LandingWaits(convoy=convoy.name, why=waits))
    if waits or seen.is_tested:
        return
    if convoy.asked != candidate.commit:
        yield owed.AskMerge(convoy.name, candidate.commit)
    elif chosen.way == "queue" and not seen.queued and seen.dequeued_by:
        by = seen.dequeued_by
        yield Hear(
            "refinery", hold_events.MergeWithdrawn(convoy=convoy.name, task=0, by=by)
        )
    elif chosen.way == "queue" and not seen.queued and seen.reason != "merged":
        said = seen.checks.text if seen.checks else ""
        left = f"{LEFT_QUEUE} ({seen.reason})" if seen.reason else LEFT_QUEUE
        why = "\n".join(filter(None, (said, left)))
        yield owed.Reject(convoy.name, 0, candidate.commit, why)
