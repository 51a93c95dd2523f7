"""Looks once at the runs and checks that the state waits for."""

from msgspec.structs import replace

from bot.context.bot_context import BotContext
from convoy.readiness.landing import candidates
from convoy.readiness.observed import Checks, Observed, judge


async def observe(context: BotContext, parts: frozenset[str]) -> Observed:
    """Return runs, checks and refs, asking only for those that may have changed.

    A run that has ended is not asked for again. A run whose id is new to the log is
    asked for at once: what the forge said of it before could not be understood.
    """
    seen = context.observed
    awaited = frozenset(
        task.attempt.run
        for _, task in context.mirror.state.running()
        if task.attempt is not None and task.attempt.run
    )
    if "runs" in parts or awaited - seen.runs.keys():
        ended = {n: r for n, r in seen.runs.items() if r.completed and n in awaited}
        asked = awaited - ended.keys()
        new = await context.github.runs.states(asked) if asked else {}
        seen = replace(seen, runs={**ended, **new})
    awaits_runs = any(known.more for known in seen.checks.values())
    if "checks" in parts or ("runs" in parts and awaits_runs):
        seen = replace(seen, checks=await _checks(context))
    return replace(seen, refs=context.mirror.refs)


async def _checks(context: BotContext) -> dict[str, Checks]:
    """Return the verdict on each open candidate."""
    found: dict[str, Checks] = {}
    for convoy in context.mirror.state.live():
        for candidate in candidates(convoy):
            known = context.observed.checks.get(candidate.commit)
            if known is not None and known.verdict in ("green", "red"):
                found[candidate.commit] = known
                continue
            required = convoy.settings.checks
            found[candidate.commit] = await _judged(context, candidate.commit, required)
    return found


async def _judged(
    context: BotContext, commit: str, required: tuple[str, ...]
) -> Checks:
    """Return the verdict on a commit.

    Asks for runs before checks: if no run is under way, all checks have been reported.
    """
    running = not required and await context.github.ci.is_judging(commit)
    reported = await context.github.ci.checks(commit)
    return judge(reported, required, context.settings.app, running=running)
