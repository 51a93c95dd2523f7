"""One look at what the state waits for: runs of sessions, checks of candidates."""

from msgspec.structs import replace

from bot.desk import Desk
from convoy.observed import Checks, Observed, judge
from convoy.queue import candidates


async def observe(desk: Desk, parts: frozenset[str]) -> Observed:
    """Return what was seen, asking only for what is awaited and may have changed.

    What has ended does not change any more and is not asked for again.
    """
    seen = desk.observed
    if "runs" in parts:
        awaited = frozenset(
            task.attempt.run
            for _, task in desk.mirror.state.running()
            if task.attempt is not None and task.attempt.run
        )
        ended = {n: r for n, r in seen.runs.items() if r.completed and n in awaited}
        asked = awaited - ended.keys()
        new = await desk.github.runs.states(asked) if asked else {}
        seen = replace(seen, runs={**ended, **new})
    awaits_runs = any(known.more for known in seen.checks.values())
    if "checks" in parts or ("runs" in parts and awaits_runs):
        seen = replace(seen, checks=await _checks(desk))
    return replace(seen, refs=desk.mirror.refs)


async def _checks(desk: Desk) -> dict[str, Checks]:
    """Return the verdicts over every open candidate."""
    found: dict[str, Checks] = {}
    for convoy in desk.mirror.state.live():
        for candidate in candidates(convoy):
            known = desk.observed.checks.get(candidate.commit)
            if known is not None and known.verdict in ("green", "red"):
                found[candidate.commit] = known
                continue
            required = convoy.settings.checks
            found[candidate.commit] = await _judged(desk, candidate.commit, required)
    return found


async def _judged(desk: Desk, commit: str, required: tuple[str, ...]) -> Checks:
    """Return the verdict over a commit.

    Its runs come before its checks: when none is under way, every check is there.
    """
    running = not required and await desk.github.ci.is_judging(commit)
    reported = await desk.github.ci.checks(commit)
    return judge(reported, required, desk.settings.app, running=running)
