"""What a session that died left of its work, looked at as a hand-in is.

It lay in the runner's folder or came by the feed; either is an agent's word.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bot.desk import Desk
from bot.repository.bundle import NoBundle
from grite.errors import GitFailed

KEPT: Final = "what it had done until then is kept"
_OF_NO_USE: Final = "what it had done until then cannot be used: {}"


def salvaged(
    desk: Desk,
    session: str,
    base: str,
    bundles: Sequence[bytes],
    unfit: Callable[[str], str],
) -> tuple[str, str]:
    """Return the newest commit that can be gone on from, and what is to be said of it.

    Both are empty where nothing was left.

    Args:
        desk: its feed may have something newer than nothing.
        session: the one that died.
        base: what its work has to stand on.
        bundles: what its runner left, the newest first; unchecked.
        unfit: says why a commit may not be gone on from; empty: it may.
    """
    sent = desk.feed.kept(session) if desk.feed else b""
    why = ""
    for bundle in filter(None, (*bundles, sent)):
        commit, why = _brought(desk, session, base, bundle)
        why = why or unfit(commit)
        if not why:
            return commit, KEPT
    return "", _OF_NO_USE.format(why) if why else ""


def _brought(desk: Desk, session: str, base: str, bundle: bytes) -> tuple[str, str]:
    """Bring a bundle's commits into the mirror; return its head, or why it has none."""
    with tempfile.NamedTemporaryFile(prefix="brat-checkpoint-") as file:
        file.write(bundle)
        file.flush()
        try:
            commit = desk.mirror.take_in(Path(file.name), session)
        except (GitFailed, NoBundle) as error:
            return "", f"it cannot be read: {error}"
    if not desk.composer.is_ancestor(base, commit):
        return "", "it does not stand on the commit the attempt was given"
    return commit, ""
