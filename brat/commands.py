"""What each word of the command line does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.settings import ROLES
from brat import (
    checkout as checkouts,
    daemon as daemons,
    dashboard as dashboards,
    local,
    registration as registrations,
    roles,
    uninstall as uninstalling,
    workflow_files,
)
from brat.afar import Afar
from brat.checkout import Checkout
from brat.console import agrees, out, say, write
from brat.executors import Executor, options_of
from brat.local import Local, serving
from brat.places import CONFIG, log_repository
from brat.registration import Source
from brat.status.screen import convoy_table
from convoy.actions import Role
from convoy.config import Config
from convoy.state import Convoy
from convoy.text.duration import seconds
from convoy.text.plaintext import shortened
from convoy.told.document import convoy_document
from runner import engines

TITLE_CHARS: Final = 72
_BY_NAME: Final[dict[str, Role]] = {role: role for role in ROLES}


def init(path: Path) -> None:
    """Register the repository that `path` lies in; again only looks anew."""
    checkout = checkouts.find(path)
    checkouts.require_clean(checkout)
    config = local.configuration(checkout)
    proposal = checkout.propose_ci()
    command = local.ci_command(config)
    known = registrations.register(
        checkout.folder,
        Source(
            path=checkout.top,
            branch=checkout.branch,
            name=checkout.name,
            person=checkout.person(),
            ci_command=proposal.command if proposal else None,
        ),
    )
    say(f"brat knows {checkout.top} as {known.repository}, branch {known.branch}")
    if command:
        say(f"CI: {command} (from {CONFIG})")
    elif proposal:
        say(f"CI: {proposal.command} ({proposal.why})")
        say(f"    for another one set [ci] command in {CONFIG}")
    else:
        say(_without_ci(config))
    if not checkout.config.exists():
        say(f"no {CONFIG}: all defaults; see docs/configuration.md")
    say('next: brat mayor start --task "..."')


def init_actions(path: Path, *, hosted: bool) -> int:
    """Write the workflow files of a mode on GitHub; return the exit status."""
    checkout = checkouts.find(path)
    local.configuration(checkout)
    names = workflow_files.HOSTED if hosted else workflow_files.NAMES
    return workflow_files.adopt(checkout, names)


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a convoy is asked for from the command line."""

    headless: bool = False
    """Run all of it, then end."""
    timeout: str = "2h"
    """How long that may take."""
    plan_only: bool = False
    """The plan waits for a person."""
    as_json: bool = False
    """Print the convoy for a program."""
    comment: str = ""
    """Said on the issue, in place of setting the label."""


def mayor_start(path: Path, text: str, how: Start) -> int:
    """Open the issue; plan, or run all of it; return the exit status."""
    if not text.strip():
        raise SystemExit(_usage("--task is empty: say what is to be done"))
    if how.headless and how.plan_only:
        raise SystemExit(_usage("--headless runs it, --plan-only does not: give one"))
    timeout = how.timeout
    try:
        limit_s = int(timeout) if timeout.isdecimal() else seconds(timeout)
    except ValueError as error:
        raise SystemExit(_usage(f"--timeout: {error}")) from error
    if limit_s == 0:
        raise SystemExit(_usage("--timeout: give at least 1s"))
    checkout = checkouts.find(path)
    checkouts.require_clean(checkout)
    config = _checked(checkout)
    if how.headless and not (checkout.folder / "registration.json").exists():
        init(path)
    limit = float(limit_s) if how.headless else None
    return asyncio.run(_start(checkout, config, text, how, limit))


async def _start(
    checkout: Checkout,
    config: Config,
    text: str,
    how: Start,
    limit_s: float | None,
) -> int:
    wanted: tuple[Role, ...] = ROLES if how.headless else ("mayor",)
    async with serving(checkout, wanted, say) as here:
        if local.ci_of(config, here.known).command is None:
            say(_without_ci(config))
        desk = here.loop.desk
        plan_only = how.plan_only or desk.settings.plan_only
        desk.settings = desk.settings.model_copy(update={"plan_only": plan_only})
        issue = await _open_issue(here, text, how.comment)
        say(f"opened issue #{issue}")
        try:
            async with asyncio.timeout(limit_s):
                await roles.until_done(here)
        except TimeoutError:
            say(f"not done after {limit_s:g} s; what is done is kept: brat status")
            await _stop_sessions(here)
            return roles.TIMED_OUT
        status = roles.report(here)
        convoy = _convoy_of(here, issue)
        if convoy is None:
            say(f"issue #{issue} became no convoy: see its comments")
            return roles.BLOCKED
        if how.as_json:
            write(json.dumps(convoy_document(convoy), indent=2))
        else:
            out.print(convoy_table(convoy))
        if how.plan_only:
            say(f"nothing starts before: brat convoy approve {convoy.name}")
        return roles.finished(convoy) if limit_s is not None else status


async def _open_issue(here: Local, text: str, comment: str) -> int:
    """Open an issue as the person and ask for it: the same door as on GitHub."""
    first, _, _ = text.strip().partition("\n")
    title = shortened(first.removeprefix("- [ ] "), TITLE_CHARS)
    label = here.loop.desk.settings.label
    async with local.person(here.url, here.known) as github:
        issue = await github.open_issue(title, text)
        if comment:
            await github.say(issue, comment)
        else:
            await github.relabel(issue, {label}, set())
    here.loop.wake.all()
    return issue


async def _stop_sessions(here: Local) -> None:
    """Cancel every run that has begun, so that nothing is left behind."""
    state = here.loop.desk.mirror.state
    for _, task in state.running():
        if task.attempt is not None and task.attempt.run:
            await here.loop.desk.github.runs.cancel(task.attempt.run)


def uninstall(path: Path, remote: str | None, *, yes: bool) -> int:
    """Remove what brat left; return the exit status."""
    ask = uninstalling.uninstall
    return ask(checkouts.find(path), remote, lambda: yes or agrees("remove it?"))


def up(path: Path, port: int | None, executor: Executor, image: str) -> int:
    """Run all roles until interrupted, with the dashboard where a port is given."""
    options = options_of(executor, image)
    checkout = checkouts.find(path)
    _checked(checkout)

    @asynccontextmanager
    async def beside(here: Local) -> AsyncIterator[None]:
        if port is None:
            yield
            return
        async with dashboards.beside(here, port) as url:
            say(f"dashboard: {url}")
            yield

    asyncio.run(roles.watch(checkout, ROLES, say, beside=beside, executor=options))
    return roles.OK


def daemon_start(path: Path, port: int) -> int:
    """Run `up` in the background; return the exit status."""
    checkout = checkouts.find(path)
    _checked(checkout)
    registrations.read(checkout.folder)
    return daemons.start(checkout, port)


def daemon_stop(path: Path) -> int:
    """End what runs in the background; return 1 when nothing does."""
    return daemons.stop(checkouts.find(path))


def daemon_status(path: Path) -> int:
    """Say whether something runs in the background; return 1 when nothing does."""
    return daemons.status(checkouts.find(path))


def daemon_run(path: Path, port: int) -> int:
    """Be what runs in the background; return the exit status."""
    checkout = checkouts.find(path)
    _checked(checkout)
    return daemons.run(checkout, port)


def dashboard(path: Path, port: int, bot: str | None) -> None:
    """Show the log of the repository at `path` in a browser until interrupted.

    With the address of a bot elsewhere also what its sessions print.
    """
    far = None if bot is None else Afar.of(bot, log_repository(path))
    asyncio.run(dashboards.alone(path.resolve(), port, say, far))


def run(role: str, path: Path, *, once: bool, watch: bool) -> int:
    """Run one role; return the exit status."""
    checkout = checkouts.find(path)
    _checked(checkout)
    wanted = (_BY_NAME[role],)
    if watch:
        asyncio.run(roles.watch(checkout, wanted, say))
        return roles.OK
    return asyncio.run(roles.run(checkout, wanted, say, once=once))


def config_check(path: Path) -> None:
    """Say whether the configuration is valid; a fault raises."""
    checkout = checkouts.find(path)
    config = local.configuration(checkout)
    say(f"{checkout.config}: valid" if checkout.config.exists() else "all defaults")
    for name, engine in config.engine.items():
        if engine.type not in engines.known():
            say(f"note: this version cannot drive {engine.type} ([engine.{name}]) yet")
    if (planner := config.mayor.planner) and planner not in engines.planners():
        say(f"note: the planner {planner} is not installed here ([mayor] planner)")


def _checked(checkout: Checkout) -> Config:
    config = local.configuration(checkout)
    settings = config.settings()
    roles.require_engines(settings.engines, engines.known(), engines.planners())
    checkouts.require_programs(checkout, settings.engines)
    return config


def _convoy_of(here: Local, issue: int) -> Convoy | None:
    convoys = here.loop.desk.mirror.state.convoys.values()
    return next((c for c in reversed(convoys) if c.issue == issue), None)


def _without_ci(config: Config) -> str:
    if not config.refinery.require_ci:
        return "CI: none, and none is required: what agents do lands untested"
    return (
        f"CI: none found. Nothing will land until [ci] command is set in "
        f"{CONFIG}, or [refinery] require_ci = false"
    )


def _usage(sentence: str) -> int:
    say(f"brat: {sentence}")
    return 2
