"""Asks the forge whether the allowed signers on the default branch count, and says so.

The answer is asked for once: rules that change take effect with the next start.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from bot.forge.branch_rules import BranchRules
from bot.forge.payloads import Repository
from bot.forge.rest import GraphQl, Rest
from bot.serving import workflow_presence
from bot.serving.examination_finding import Finding
from bot.settings.bot_folder import source_in_force
from bot.settings.bot_settings import ServiceSettings
from grite.errors import BratError
from grite.signatures import (
    BOT_SIGNERS_FILE,
    SIGNERS_FILE,
    AllowedSigners,
    parse_signers,
)

if TYPE_CHECKING:  # `brat setup` asks for files by this, and the loop is slow to load
    from bot.loop.loop import Loop


async def settle(loop: "Loop") -> None:
    """Let the file count if only approved changes reach it; safe to call again.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the repository.
    """
    context = loop.context
    clone, settings = context.mirror.clone, context.settings
    if clone.committed is None or clone.believes_branch is not None or settings.sole:
        return
    rules = await context.github.branch_rules.of(context.mirror.default_branch)
    found = source_in_force(settings.allowed_signers, has_file=True, rules=rules)
    clone.believes_branch = found.source == "file"
    loop.tell(f"allowed signers: {found.why}")
    loop.wake.up("refs")  # what they signed counts from the next look on


async def examined(
    rest: Rest, hosting: ServiceSettings, name: str, installation: int | None
) -> AsyncIterator[Finding]:
    """Give the findings about who may sign a repository's log and hand-offs.

    Args:
        rest: a client with the bot's permissions.
        hosting: the service's settings.
        name: the repository's full name.
        installation: of the App there; None: there is none.

    Raises:
        BratError: the forge did not answer.
    """
    known = await rest.read(Repository, f"/repos/{name}")
    main = known.default_branch
    text = await workflow_presence.text_at(rest, name, SIGNERS_FILE)
    rules = await BranchRules(rest, GraphQl(rest, hosting.api_url), name).of(main)
    found = source_in_force(
        hosting.allowed_signers, has_file=text is not None, rules=rules
    )
    said = f"{name}: allowed signers: {found.why}"
    if text is not None and found.source == "own key":
        mend = (
            f"protect {main}: a pull request with an approval; or pin the keys: "
            '"allowed_signers" in the settings, and the variable BRAT_ALLOWED_SIGNERS'
        )
        yield Finding("fault", said, mend)
    else:
        yield Finding("ok", said)
    line = _own_line(hosting.of(name, installation, known.id).folder)
    if line and not _holds(text or "", line):
        yield Finding(
            "note",
            f"{name}: {SIGNERS_FILE} does not name the key of the bot, whose hand-offs "
            "sessions take only if the variable BRAT_ALLOWED_SIGNERS does",
            f"put this line there: {line}",
        )


def _own_line(folder: Path) -> str:
    """Return the line of the bot's key; empty: it has made none yet."""
    file = folder / BOT_SIGNERS_FILE
    return file.read_text().strip() if file.is_file() else ""


def _holds(text: str, line: str) -> bool:
    keys = {signer.public for signer in _parsed(text).signers}
    return {signer.public for signer in _parsed(line).signers} <= keys


def _parsed(text: str) -> AllowedSigners:
    try:
        return parse_signers(text)
    except BratError:  # such a file allows nobody
        return AllowedSigners()
