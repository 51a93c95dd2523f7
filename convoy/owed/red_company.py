"""The candidates on top of a red one: red like it, they judge its files, too. Pure.

Each holds the red candidate's files and its own, and CI judged it by a run of its own.
So two of them that are red by the same checks say what a second run of the red one
would say, without the time that it takes.
"""

from collections.abc import Mapping
from typing import Final

from convoy.readiness.landing import Link
from convoy.readiness.observed import Checks, CiVerdict

COMPANY: Final = 2
"""How many of them it takes."""
SHARE: Final = 10
"""They are waited for a tenth of the time that the red run took, and no longer than"""
GRACE_MS: Final = 30_000


def company(
    links: tuple[Link, ...], place: int, checks: Mapping[str, Checks]
) -> tuple[int, ...]:
    """Return the tasks right behind a red link that are red like it; none: too few."""
    red = checks[links[place].candidate.commit]
    behind = links[place + 1 : place + 1 + COMPANY]
    found = tuple(
        link.task.number
        for link in behind
        if (seen := checks.get(link.candidate.commit)) is not None
        and seen.verdict == "red"
        and set(seen.failed) & set(red.failed)
    )
    return found if len(found) == COMPANY else ()


def is_waited_for(
    links: tuple[Link, ...], place: int, checks: Mapping[str, Checks], now: int
) -> bool:
    """Whether runs about to end will say more of a red link than it says itself.

    Those ahead of it, so that its base is known to be good, and those right behind it.
    What was built when it was should end when it does; what is green ahead lands.
    """
    link = links[place]
    seen, built = checks[link.candidate.commit], link.candidate.at
    grace = min(GRACE_MS, (seen.since - built) // SHARE)
    behind = links[place + 1 : place + 1 + COMPANY]
    if len(behind) < COMPANY or not seen.since <= now < seen.since + grace:
        return False
    ahead = [_is_soon(each, built, grace, checks, "green") for each in links[:place]]
    after = [_is_soon(each, built, grace, checks, "red") for each in behind]
    is_all_said = place == 0 and not any(_runs(each, checks) for each in behind)
    return not is_all_said and all((*ahead, *after))


def _is_soon(
    link: Link, built: int, grace: int, checks: Mapping[str, Checks], hoped: CiVerdict
) -> bool:
    """Whether CI has said of a link what is hoped for, or is about to."""
    found = checks.get(link.candidate.commit)
    if found is None or found.verdict == hoped:
        return found is not None
    return _runs(link, checks) and abs(link.candidate.at - built) <= grace


def _runs(link: Link, checks: Mapping[str, Checks]) -> bool:
    found = checks.get(link.candidate.commit)
    return found is not None and found.verdict == "pending"
