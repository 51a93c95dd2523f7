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
        new = await desk.github.runs(asked) if asked else {}
        seen = replace(seen, runs={**ended, **new})
    if "checks" in parts:
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
            reported = await desk.github.checks(candidate.commit)
            required = convoy.settings.checks
            found[candidate.commit] = judge(reported, required, desk.settings.app)
    return found
