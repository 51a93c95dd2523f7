"""`brat setup`: prepare a repository on GitHub for brat without a server."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from bot.forge import transport
from bot.forge.github import GitHub
from bot.forge.rest import Rest
from bot.forge.transport import DEADLINE_S
from brat.local import local_mode
from brat.repository import checkout as checkouts
from brat.repository.checkout import Checkout
from brat.repository.remote_forge import Origin, origin_of, token_for
from brat.setup.ci_step import CiStep
from brat.setup.container_step import ContainerStep
from brat.setup.environment_step import EnvironmentStep
from brat.setup.label_step import LabelStep
from brat.setup.log_key_step import LogKeyStep
from brat.setup.rounds import setup as brought
from brat.setup.secret_step import EngineKeyStep
from brat.setup.step import Step
from brat.setup.token_steps import DefaultTokenStep, PullRequestStep
from brat.setup.workflow_step import LocalFilesStep, WorkflowStep
from brat.terminal.console import say
from convoy.config import Config
from convoy.model.records import ENGINE_TYPES
from grite.errors import BratError


class Choices(Struct, frozen=True):
    """What the person typed."""

    local: bool
    """Whether files are written into the checkout instead of proposed."""
    ci: str
    """The workflow file that judges; empty: the only one that can."""


def setup(path: Path, choices: Choices, agrees: Callable[[], bool]) -> int:
    """Show what the repository needs, and do it once the person agrees.

    Returns:
        0 when everything is as wanted, 1 when something is left.

    Raises:
        BratError: there is no origin or no token for it.
        Unavailable: the forge did not answer.
    """
    checkout = checkouts.find(path)
    config = local_mode.configuration(checkout)
    origin = origin_of(checkout.top)
    token = token_for(origin)
    if not token:
        wanted = " or ".join(origin.variables)
        raise BratError(
            f"no token for {origin.host}: set {wanted}, or sign in with gh auth login"
        )
    say(f"{origin.repository} on {origin.host}:")
    return asyncio.run(_setup(checkout, config, origin, token, choices, agrees))


async def _setup(
    checkout: Checkout,
    config: Config,
    origin: Origin,
    token: str,
    choices: Choices,
    agrees: Callable[[], bool],
) -> int:
    async with transport.async_client(DEADLINE_S) as client:
        name = origin.repository
        github = GitHub(client, api_url=origin.api_url, repository=name, token=token)
        branch = await github.default_branch()
        rest = Rest(client, api_url=origin.api_url, token=token)
        files: Step = LocalFilesStep(checkout)
        if not choices.local:
            files = WorkflowStep(rest, checkout, origin, token=token, branch=branch)
        environment = EnvironmentStep(rest, name, branch)
        required = config.refinery.require_ci
        steps: tuple[Step, ...] = (
            LabelStep(rest, name),
            DefaultTokenStep(rest, name),
            PullRequestStep(rest, name),
            environment,
            LogKeyStep(rest, name, environment),
            files,
            CiStep(rest, name, checkout, required=required, asked=choices.ci),
            EngineKeyStep(rest, name, _keys(config)),
            ContainerStep(rest, name, _program(config)),
        )
        return await brought(steps, agrees)


def _program(config: Config) -> str:
    """Return the first engine whose program an image of brat holds; empty: none."""
    used = (spec.type for spec in config.settings().engines.values())
    known = (each for each in used if each in ENGINE_TYPES and ENGINE_TYPES[each].keys)
    return next(known, "")


def _keys(config: Config) -> tuple[str, ...]:
    """Return the names of keys of which the configured engines look for one."""
    known = (
        ENGINE_TYPES[spec.type].keys
        for spec in config.settings().engines.values()
        if spec.type in ENGINE_TYPES
    )
    return tuple(dict.fromkeys(key for keys in known for key in keys))
