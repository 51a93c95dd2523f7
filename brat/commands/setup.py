"""`brat setup`: prepare a repository on GitHub for brat without a server."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from bot.forge import outbound_client
from bot.forge.github import GitHub
from bot.forge.rest import DEADLINE_S, Rest
from brat.local import local_mode
from brat.repository import checkout as checkouts
from brat.repository.checkout import Checkout
from brat.repository.remote_forge import Origin, origin_of, token_for
from brat.setup.ci_step import CiStep
from brat.setup.environment_step import EnvironmentStep
from brat.setup.label_step import LabelStep
from brat.setup.rounds import setup as brought
from brat.setup.secret_step import EngineKeyStep
from brat.setup.step import Step
from brat.setup.token_steps import DefaultTokenStep, PullRequestStep
from brat.setup.workflow_step import LocalFilesStep, WorkflowStep
from brat.terminal.console import say
from convoy.config import Config
from convoy.model.engine_types import ENGINE_TYPES
from grite.errors import BratError


def setup(path: Path, *, local: bool, agrees: Callable[[], bool]) -> int:
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
    return asyncio.run(_setup(checkout, config, origin, token, local, agrees))


async def _setup(
    checkout: Checkout,
    config: Config,
    origin: Origin,
    token: str,
    local: bool,  # noqa: FBT001  handed on
    agrees: Callable[[], bool],
) -> int:
    async with outbound_client.client(DEADLINE_S) as client:
        name = origin.repository
        github = GitHub(client, api_url=origin.api_url, repository=name, token=token)
        branch = await github.default_branch()
        rest = Rest(client, api_url=origin.api_url, token=token)
        files: Step = LocalFilesStep(checkout)
        if not local:
            files = WorkflowStep(rest, checkout, origin, token=token, branch=branch)
        steps: tuple[Step, ...] = (
            LabelStep(rest, name),
            DefaultTokenStep(rest, name),
            PullRequestStep(rest, name),
            EnvironmentStep(rest, name, branch),
            files,
            CiStep(checkout, required=config.refinery.require_ci),
            EngineKeyStep(rest, name, _keys(config)),
        )
        done = await brought(steps, agrees)
    say(
        "not looked at: the secret BRAT_LOG_KEY of the environment brat, which signs "
        "the log, and the variable BRAT_CI_WORKFLOW (README)"
    )
    return done


def _keys(config: Config) -> tuple[str, ...]:
    """Return the names of keys of which the configured engines look for one."""
    known = (
        ENGINE_TYPES[spec.type].keys
        for spec in config.settings().engines.values()
        if spec.type in ENGINE_TYPES
    )
    return tuple(dict.fromkeys(key for keys in known for key in keys))
