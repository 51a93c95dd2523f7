"""What is green in front of the merge queue lands. Pure."""

from collections.abc import Iterator

from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.owed.actions import Action, Align, Land
from convoy.owed.ci_findings import is_green
from convoy.readiness.landing import Link
from convoy.readiness.observed import Observed


def green_front(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed
) -> tuple[Link, ...]:
    """Return the links that may land, from the front on."""
    for position, link in enumerate(links):
        checks = observed.checks.get(link.candidate.commit)
        if not is_shown(link) or not is_green(convoy, checks):
            return links[:position]
    return links


def is_shown(link: Link) -> bool:
    """Whether the forge has the pull request and, from an earlier push, the work."""
    pull, work = link.task.pull, link.task.work
    return pull is not None and work is not None and work.log != ""


def landing(
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
