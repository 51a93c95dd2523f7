"""What the dashboard of a hosted bot shows of one repository, and reads it from."""

from collections.abc import Mapping

from bot import wall_clock
from bot.context.configuration import configuration
from bot.dashboard.changed_lines import changes_in
from bot.dashboard.dashboard_source import DashboardSource, Session
from bot.dashboard.log_history import LogHistory
from bot.dashboard.log_past import LogPast
from bot.dashboard.log_tail import LogTail
from bot.door.feed import last_output
from bot.loop.loop import Loop
from bot.serving import bot_service
from bot.serving.served_repository import Served
from bot.text.replies import Reply
from bot.verbs.request_context import Asker
from bot.verbs.verb import Request
from convoy.config import ConfigError
from convoy.log.record import Reading
from convoy.rules.verdict import Checks
from convoy.views.interventions import (
    Intervention,
    standing_still,
    unread_issues,
    unusable_config,
)
from grite.errors import BratError, Unavailable


def source_of(one: Served, served: Mapping[str, Served]) -> DashboardSource:
    """Return the dashboard's source for one repository, read from its current loop.

    Args:
        one: the repository.
        served: all of them: after a pause another stands there under its name.
    """
    settings, name = loop_of(one).context.settings, one.name.casefold()

    def now() -> Served:
        return served.get(name, one)

    def loop() -> Loop:
        """Return the loop, if it still serves the repository that was shown."""
        found = loop_of(now())
        if found.context.settings.repository_id != settings.repository_id:
            raise Unavailable(f"{one.name} is another repository now")
        return found

    # No ref in a mirror points at the log's head: only its loop knows the head.
    mirror = settings.folder / bot_service.MIRROR

    def head() -> str | None:
        return loop().context.mirror.head

    def read() -> Reading:
        return loop().context.mirror.reading

    async def carry_out(asker: Asker, request: Request) -> Reply:
        return await loop().carry_out(asker, request)

    def printed(session: Session) -> str:
        return last_output(settings.folder, session.name)

    return DashboardSource(
        repository=settings.repository,
        read=read,
        log=LogTail(mirror, head).last,
        past=LogPast(mirror, head),
        history=LogHistory(mirror, read),
        clock=wall_clock,
        here=lambda: _here(now()),
        output=printed,
        output_is_here=True,
        checks=lambda: _checks(now()),
        changes=changes_in(mirror),
        web=f"{settings.git_url}/{settings.repository}",
        carry_out=carry_out,
        base=f"/{settings.repository}",
    )


def _checks(one: Served) -> Mapping[str, Checks]:
    return one.loop.context.observed.checks if one.loop else {}


def _here(one: Served) -> tuple[Intervention, ...]:
    return (*_standing_still(one), *_misconfigured(one), *_unread(one))


def _standing_still(one: Served) -> tuple[Intervention, ...]:
    why = one.standstill.why(one.loop, one.trouble)
    return (standing_still(why),) if why else ()


def _misconfigured(one: Served) -> tuple[Intervention, ...]:
    """Return an intervention if the default branch's configuration is unusable."""
    try:
        configuration(loop_of(one).context)
    except ConfigError as error:
        return (unusable_config(str(error)),)
    except (BratError, KeyError):  # no loop, no default branch: reported elsewhere
        return ()
    return ()


def _unread(one: Served) -> tuple[Intervention, ...]:
    """Return the labelled issues that had no convoy at the loop's last look."""
    if one.loop is None:
        return ()
    context = one.loop.context
    return tuple(unread_issues([*context.memory.unread.values()], context.mirror.state))


def loop_of(one: Served) -> Loop:
    """Return the loop.

    Raises:
        Unavailable: it is not open now.
    """
    if one.loop is None:
        raise Unavailable(f"{one.name} is not served just now")
    return one.loop
