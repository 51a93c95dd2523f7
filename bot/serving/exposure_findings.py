"""Checks what CI hands to the code of agents."""

from collections.abc import AsyncIterator, Mapping

from bot.forge.github_actions import open_environments
from bot.forge.rest import Rest
from bot.forge.workflows import DefaultRight, environments_in, exposures
from bot.serving.examination_finding import Finding
from bot.serving.workflow_presence import OWN


async def examined(
    rest: Rest, name: str, files: Mapping[str, str], default: DefaultRight
) -> AsyncIterator[Finding]:
    """Give a fault for each thing that an agent's code could reach.

    Args:
        rest: a client with the bot's permissions.
        name: the repository's full name.
        files: the workflow files on the default branch, by name.
        default: what a job's token may do where no permissions are named.

    Raises:
        Unavailable: the forge did not answer.
    """
    own = {file: text for file, text in files.items() if file not in OWN}
    reachable = await open_environments(rest, name, environments_in(own))
    found = exposures(own, default, reachable)
    for one in found:
        yield Finding("fault", f"{name}: {one.said}", one.mend)
    if not found:
        said = f"{name}: CI hands agents' code no secret and no token that writes"
        yield Finding("ok", said)
