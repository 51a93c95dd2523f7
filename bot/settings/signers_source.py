"""Which source of allowed signers is in force for a repository's log. Pure.

A file on a branch says who may sign only if whoever holds the token of CI, or may push,
cannot change it alone.
"""

from typing import Literal

from msgspec import Struct

from convoy.model.work import TargetRules
from grite.signatures import SIGNERS_FILE

Source = Literal["settings", "file", "own key"]


class SignersSource(Struct, frozen=True):
    """Where the keys come from that may sign, beside the bot's own."""

    source: Source
    why: str
    """A part of a sentence for people."""


def is_guarded(rules: TargetRules) -> bool:
    """Whether a branch moves only with somebody else's approval, or not at all."""
    return rules.frozen or (rules.pull_request and rules.reviews > 0)


def in_force(pinned: str, *, has_file: bool, rules: TargetRules) -> SignersSource:
    """Return the source that counts.

    Args:
        pinned: the keys that the bot's settings or a repository variable name.
        has_file: whether the default branch has a file of allowed signers.
        rules: what the default branch asks for before it moves.
    """
    if pinned.strip():
        return SignersSource("settings", "they are pinned where no push changes them")
    if has_file and is_guarded(rules):
        why = "the default branch asks for an approved pull request"
        return SignersSource("file", f"{SIGNERS_FILE} counts, for {why}")
    if has_file:
        why = "whoever may push to the default branch could change it"
        return SignersSource("own key", f"{SIGNERS_FILE} does not count, for {why}")
    return SignersSource("own key", f"there is no {SIGNERS_FILE}, and none are pinned")
