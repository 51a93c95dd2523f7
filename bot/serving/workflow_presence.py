"""Checks which of brat's workflows a repository has, and whether it has CI.

https://docs.github.com/rest/actions/workflows#list-repository-workflows
https://docs.github.com/rest/repos/contents#get-repository-content
"""

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest
from bot.forge.workflows import StartWay, ways_to_start
from bot.serving.examination_finding import Finding

LOOP: Final = "brat.yml"
OWN: Final = (LOOP, "brat-task.yml", "brat-task-live.yml", "brat-wake.yml")
FOLDER: Final = ".github/workflows/"
MOST: Final = 50
"""The most workflow files read in one repository."""

IsOurs = Callable[[str, str], bool]
"""Whether this version writes a file with this name and this text."""


class _Workflow(Payload):
    path: str


class _Content(Payload):
    content: str = ""


async def texts(rest: Rest, name: str) -> dict[str, str]:
    """Return the workflow files on the default branch, by their names.

    Raises:
        BratError: the forge did not answer.
    """
    url = f"/repos/{name}/actions/workflows?per_page=100"
    found: dict[str, str] = {}
    async for each in rest.each(_Workflow, url, "workflows"):
        file = each.path.removeprefix(FOLDER)
        if each.path.startswith(FOLDER) and len(found) < MOST:
            text = await text_at(rest, name, each.path)
            if text is not None:
                found[file] = text
    return found


async def text_at(rest: Rest, name: str, path: str) -> str | None:
    """Return a file's text on the default branch; None: it is not there.

    Raises:
        BratError: the forge did not answer.
    """
    url = f"/repos/{name}/contents/{quote(path)}"
    try:
        found = await rest.read(_Content, url)
        return base64.b64decode(found.content).decode(errors="replace")
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        return None  # the file is on another branch
    except ValueError:
        return None


async def examined(
    name: str, files: Mapping[str, str], is_ours: IsOurs
) -> AsyncIterator[Finding]:
    """Give the findings about a repository's brat workflow files and its CI."""
    for file in OWN:
        if file not in files:
            continue
        if is_ours(file, files[file]):
            yield Finding("ok", f"{name}: {file} is this version's")
        else:
            mend = "if nobody changed it: remove it, brat init --actions, push"
            yield Finding("note", f"{name}: {file} is not this version's", mend)
    own = {file: text for file, text in files.items() if file not in OWN}
    started: set[StartWay] = {"push"}
    if LOOP in files:  # it dispatches, if it is no App
        started.add("dispatch")
    judging = [file for file, text in own.items() if ways_to_start(text) & started]
    if judging:
        said = f"{name}: {', '.join(judging)} may judge what brat builds"
        yield Finding("ok", said)
    else:
        said = f"{name}: no workflow runs on pushes to brat/queue/**"
        mend = 'add "brat/queue/**" to the branches of your CI\'s push, or set '
        yield Finding("note", said, f"{mend}[refinery] require_ci = false")
