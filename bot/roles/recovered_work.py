"""Recovers the work of a session that died, and checks it like a hand-in.

The work comes from the runner's folder or the feed; neither is trusted.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bot.context.bot_context import BotContext
from bot.repository.strangers_commits import NoBundle
from grite.errors import GitFailed

KEPT: Final = "what it had done until then is kept"
_OF_NO_USE: Final = "what it had done until then cannot be used: {}"


def salvaged(
    context: BotContext,
    session: str,
    base: str,
    bundles: Sequence[bytes],
    unfit: Callable[[str], str],
) -> tuple[str, str]:
    """Return the newest usable commit, and a sentence about it.

    Both are empty where the session left no work.

    Args:
        context: its feed may hold a bundle of the session.
        session: the session that died.
        base: the commit that the work has to descend from.
        bundles: the bundles the session's runner left, the newest first; unchecked.
        unfit: returns why no attempt may go on from a commit; empty: one may.
    """
    sent = context.feed.kept(session) if context.feed else b""
    why = ""
    for bundle in filter(None, (*bundles, sent)):
        commit, why = _brought(context, session, base, bundle)
        why = why or unfit(commit)
        if not why:
            return commit, KEPT
    return "", _OF_NO_USE.format(why) if why else ""


def _brought(
    context: BotContext, session: str, base: str, bundle: bytes
) -> tuple[str, str]:
    """Bring a bundle into the mirror; return its head, and why it cannot be used."""
    with tempfile.NamedTemporaryFile(prefix="brat-checkpoint-") as file:
        file.write(bundle)
        file.flush()
        try:
            commit = context.mirror.take_in(Path(file.name), session)
        except (GitFailed, NoBundle) as error:
            return "", f"it cannot be read: {error}"
    if not context.composer.is_ancestor(base, commit):
        return "", "it does not stand on the commit the attempt was given"
    return commit, ""
