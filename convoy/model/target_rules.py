"""How a convoy lands on its target, and what the target's rules ask for."""

from typing import Literal

from msgspec import Struct

from convoy.model.records import Strategy

Way = Literal["push", "merge", "queue", "person"]
"""The bot pushes, asks the forge to merge, asks the forge's queue; or a person merges,
because the rules let the bot do none of these."""


class Landing(Struct, frozen=True, kw_only=True):
    """How a convoy lands, as its target's rules allow it."""

    way: Way = "push"
    method: Strategy = "merge"
    """How the forge makes its commit; for a push it makes none."""
    reviews: int = 0
    """How many approving reviews its pull request needs."""
    checks: tuple[str, ...] = ()
    """The checks that the rules name."""
    waits: tuple[str, ...] = ()
    """What else the rules ask people for, in a few words each."""
    unknown: tuple[str, ...] = ()
    """What the bot may not read; the first refusal tells."""
    learnt: tuple[str, ...] = ()
    """Names of rules that no list showed and that a refusal told."""


class TargetRules(Struct, frozen=True, kw_only=True):
    """What a forge asks for before a branch moves."""

    pull_request: bool = False
    reviews: int = 0
    """How many approving reviews."""
    owners: bool = False
    """Whether the owners of the code must review it."""
    resolved: bool = False
    """Whether every conversation must be resolved."""
    checks: tuple[str, ...] = ()
    reporters: dict[str, int] = {}
    """The number of the App that must report a check, by the check's name."""
    linear: bool = False
    signed: bool = False
    queue: bool = False
    frozen: bool = False
    """Whether nobody may move it who may not pass the rules by."""
    deployed: tuple[str, ...] = ()
    """The environments to which the work must have been deployed."""
    methods: tuple[Strategy, ...] = ("merge", "squash", "rebase")
    """How its pull requests may be merged."""
    passes: bool = False
    """Whether the bot may pass all of these by."""
    unknown: tuple[str, ...] = ()
    """What the bot may not read."""
