"""Looks once at the runs, checks, pull requests and rules that the state waits for."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from bot.forge.rest import Refused
from bot.roles import by_hand
from bot.roles.bot_context import BotContext, tried
from bot.roles.deacon import look_at_unneeded
from bot.roles.issue_intake import read_list
from convoy.model import ids
from convoy.model.records import SubIssue
from convoy.model.state import Convoy
from convoy.model.work import Landing, TargetRules
from convoy.rules.landing import merged_commit, open_candidates
from convoy.rules.observed import Mergeable, Observed, Run
from convoy.rules.verdict import Checks, Reporters

RUN_LIST: Final = ids.item("look", "runs")
NEW_CHECKS: Final = "new checks"
"""The part of the world after a push of ours: what judges the commits that are new."""
Look = Callable[[], Awaitable[None]]
"""Fetches the refs and the log."""


async def observe(context: BotContext, parts: frozenset[str], look: Look) -> Observed:
    """Return what the loop may see, asking only for what may have changed.

    A run that has ended is not asked for again. A run whose id is new to the log is
    asked for at once: what the forge said of it before could not be understood. So is
    a pull request: people may have closed it.
    """
    seen = replace(context.observed, unneeded=())
    awaited = frozenset(
        task.attempt.run
        for _, task in context.state.running()
        if task.attempt is not None and task.attempt.run
    )
    if "runs" in parts or awaited - seen.runs.keys():
        ended = {n: r for n, r in seen.runs.items() if r.completed and n in awaited}
        asked = awaited - ended.keys()
        seen = replace(seen, runs={**ended, **await _runs(context, asked)})
    awaits_runs = any(known.more for known in seen.checks.values())
    if "issues" in parts:
        issues, lists = await by_hand.look_at_issues(context), await _lists(context)
        if lists != seen.lists:
            await look()  # what a person did was there before its issue was closed
        seen = replace(seen, issues=issues, lists=lists)
    pulls = frozenset(by_hand.known_pulls(context.state))
    asks_pulls = parts & {"issues", "pulls"}  # a merge closes its issue
    if asks_pulls or pulls - seen.pulls.keys():
        found = await by_hand.look_at_pulls(context, context.state)
        shut = {n for n, pull in found.items() if not (pull.open or pull.merged)}
        # A forge closes pull requests when a branch of theirs is deleted: that is then
        # to be seen, and nobody has closed them.
        if any(n not in seen.pulls or seen.pulls[n].open for n in shut):
            await look()
        seen = replace(seen, pulls=found)
    if parts:
        own, rules = await own_pulls(context), await target_rules(context)
        seen = replace(seen, mergeable=own, rules=rules)
    again = "checks" in parts or ("runs" in parts and awaits_runs)
    if again or NEW_CHECKS in parts:
        checks = await _checks(context, seen, again=again)
        gone = await look_at_unneeded(context, frozenset(checks))
        seen = replace(seen, checks=checks, unneeded=gone)
    return replace(seen, refs=context.mirror.refs)


async def _lists(context: BotContext) -> dict[str, tuple[SubIssue, ...]]:
    """Return the sub-issues of convoys planned by them; one not told is as before."""
    state, known = context.state, context.observed.lists
    found: dict[str, tuple[SubIssue, ...]] = {}
    for convoy in state.live():
        if not convoy.listed:
            continue
        read = partial(read_list, context, state, convoy)
        listing = await tried(context, ids.item("look", convoy.name, "list"), read)
        if listing is not None and not listing.fault:
            found[convoy.name] = listing.listed
        elif convoy.name in known:
            found[convoy.name] = known[convoy.name]
    return found


async def _runs(context: BotContext, asked: frozenset[int]) -> dict[int, Run]:
    if not asked:
        return {}
    runs = context.github.runs
    found = await tried(context, RUN_LIST, partial(runs.listed, asked)) or {}
    for number in asked - found.keys():
        run = await tried(context, ids.item("run", number), partial(runs.state, number))
        if run is not None:
            found[number] = run
    return found


async def _checks(
    context: BotContext, seen: Observed, *, again: bool
) -> dict[str, Checks]:
    found: dict[str, Checks] = {}
    for convoy in context.state.live():
        merged = merged_commit(convoy, seen)
        awaited = {convoy.asked, merged} - {""}
        for commit in awaited | {one.commit for one in open_candidates(convoy)}:
            known = context.observed.checks.get(commit)
            if known is not None:
                found[commit] = known
            if known is None or (again and known.verdict not in ("green", "red")):
                look = partial(judged, context, convoy, commit)
                if new := await tried(context, ids.item("check", commit), look):
                    is_old = known is not None and known.verdict == new.verdict
                    if known and new.verdict == "pending" and new.text:
                        is_old &= bool(known.text)  # the checks that run have ended
                    since = known.since if known and is_old else context.clock()
                    found[commit] = replace(new, since=since)  # when it was seen first
    return found


async def judged(context: BotContext, convoy: Convoy, commit: str) -> Checks:
    """Return the verdict on a commit.

    Asks for runs before checks: if no run is under way, all checks have been reported.
    """
    ci = context.github.ci
    runs, required = await ci.runs(commit), convoy.settings.checks
    known = context.observed.checks.get(commit, Checks(verdict="none")).runs
    listed = frozenset(run.id for run in runs or ())
    state = context.github.runs.state
    gone = [number for number in known - listed if (await state(number)).deleted]
    if gone:
        why = f"workflow run {gone[0]} was deleted"
        return Checks(verdict="lost", text=why, failed=(f"run {gone[0]}",))
    built = (convoy.candidate, *(task.candidate for task in convoy.tasks))
    begun = (each.at for each in built if each and each.commit == commit)
    patience_ms = context.settings.patience.check_start_s * 1000
    # Whose word counts: the configuration's, a ruleset's, that of the first ones.
    chosen, rules = convoy.settings.reporters, context.observed.rules.get(convoy.target)
    by_ruleset = rules.reporters.items() if rules is not None else ()
    whose = Reporters(
        named=context.state.reporters | chosen,
        ids={name: app for name, app in by_ruleset if name not in chosen},
        awaited=frozenset(context.state.judges),
        is_late=context.clock() > max(begun, default=0) + patience_ms,
    )
    seen = await ci.judged(commit, runs, required, context.settings.app, whose)
    return replace(seen, runs=known | listed)


RULES_MS: Final = 600_000
"""How long the rules of a target are believed while a convoy is under way."""


async def target_rules(context: BotContext) -> dict[str, TargetRules]:
    found, at = dict(context.observed.rules), context.memory.rules_read
    live = {convoy.target for convoy in context.state.live()}
    now = context.clock()
    for branch in live | {context.mirror.default_branch}:
        is_old = branch in live and now - at.get(branch, now) >= RULES_MS
        if branch in found and not is_old:
            continue
        look = partial(context.github.branch_rules.of, branch)
        rules = await tried(context, ids.item("look", "rules", branch), look)
        if rules is not None:
            # No workflow starts for what a job's token puts into a merge queue, which
            # would stand still for everybody: a person puts it there.
            frozen = rules.frozen or (rules.queue and context.settings.by_job)
            found[branch], at[branch] = replace(rules, frozen=frozen), now
    return found


async def own_pulls(context: BotContext) -> dict[int, Mergeable]:
    found = {}
    for convoy in context.state.live():
        number, landing = convoy.pull, convoy.landing
        if number is None or landing is None or landing.way == "push":
            continue
        if convoy.settled:
            look = partial(_own_pull, context, convoy, number, landing)
            item = ids.item("look", convoy.name, "landing")
            if seen := await tried(context, item, look):
                found[number] = seen
    return found


async def _own_pull(
    context: BotContext, convoy: Convoy, number: int, landing: Landing
) -> Mergeable:
    """Return a pull request, and what of CI blocks it or made a queue remove it."""
    seen = await context.github.pulls.mergeable(number)
    is_out = seen.group != "" and convoy.asked == seen.head
    is_blocked = seen.state == "blocked" and seen.review in ("", "APPROVED")
    if seen.merged or not (is_out or (is_blocked and landing.checks)):
        return seen
    ci, commit = context.github.ci, seen.group if is_out else seen.head
    named, app = landing.checks, context.settings.app
    with suppress(Refused):  # what the pull request shows stands without it
        runs = await ci.runs(commit)
        found = await ci.judged(commit, runs, named, app, has_logs=is_out)
        return replace(seen, checks=found)
    return seen
