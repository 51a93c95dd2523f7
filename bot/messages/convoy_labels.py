"""The labels that show a convoy on its issue, and those that people set. Pure."""

from typing import Final

from convoy.model.state import Convoy

LABELS: Final = (
    "brat:planning",
    "brat:active",
    "brat:paused",
    "brat:complete",
    "brat:failed",
)
HOLD: Final = "brat:hold"
"""Nothing of the issue's convoy, or of the pull request's task, starts or merges."""
NO: Final = "brat:no"
"""The bot never acts on this issue or pull request."""


def labels(convoy: Convoy, start_label: str) -> tuple[set[str], set[str]]:
    """Return the labels the issue should have, and those it should not.

    A staged convoy has none of either.
    """
    if convoy.staged:
        return set(), set()
    have = {f"brat:{convoy.state}"}
    return have, ({*LABELS, start_label} - have)


def labels_key(convoy: Convoy) -> str:
    """Return the key in `shown` under which the issue's last seen labels are kept."""
    return f"labels:{convoy.name}"
