"""`brat init` and `brat config check`."""

from pathlib import Path

from msgspec.structs import replace

from brat.local import local_mode
from brat.local.start_checks import clone_lacks, engine_lacks, require
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    workflow_files,
)
from brat.repository.registration import Source
from brat.repository.state_files import CONFIG
from brat.terminal.console import say
from convoy.config import Config
from runner import engines


def init(path: Path) -> None:
    """Register the repository that `path` lies in; safe to call again."""
    checkout = checkouts.find(path)
    checkouts.require_clean(checkout)
    before = registrations.known(checkout.folder)
    now = before and replace(before, branch=checkout.branch)
    require(*clone_lacks(checkout, now))
    config = local_mode.configuration(checkout)
    proposal = checkout.propose_ci()
    command = local_mode.ci_command(config)
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
        say(without_ci(config))
    if not checkout.config.exists():
        say(f"no {CONFIG}: all defaults; see docs/configuration.md")
    for lack in engine_lacks(checkout, config):
        say(f"note: {lack}")
    say('next: brat mayor start --task "..."')


def init_actions(path: Path, *, hosted: bool) -> int:
    """Write the workflow files of a mode on GitHub; return the exit status."""
    checkout = checkouts.find(path)
    config = local_mode.configuration(checkout)
    names = workflow_files.HOSTED if hosted else workflow_files.NAMES
    lacks = workflow_files.ci_lack(checkout, names)
    if config.refinery.require_ci and lacks:
        say(f"note: {': '.join(lacks)}")
    return workflow_files.adopt(checkout, names)


def config_check(path: Path) -> None:
    """Say that the configuration is valid; raise if it has a fault."""
    checkout = checkouts.find(path)
    config = local_mode.configuration(checkout)
    say(f"{checkout.config}: valid" if checkout.config.exists() else "all defaults")
    for name, engine in config.engine.items():
        if engine.type not in engines.known():
            say(f"note: this version cannot drive {engine.type} ([engine.{name}]) yet")
    if (planner := config.mayor.planner) and planner not in engines.planners():
        say(f"note: the planner {planner} is not installed here ([mayor] planner)")


def without_ci(config: Config) -> str:
    """Return a sentence on what happens to work when no CI judges it."""
    if not config.refinery.require_ci:
        return "CI: none, and none is required: what agents do lands untested"
    return (
        f"CI: none found. Nothing will land until [ci] command is set in "
        f"{CONFIG}, or [refinery] require_ci = false"
    )
