"""An action that the log announces before the forge is asked for it."""

from msgspec import Struct

from convoy.model.records import ActionKind, Reaction


class Intent(Struct, frozen=True, kw_only=True):
    """An announced action that is not yet noted as done."""

    key: str
    kind: ActionKind
    convoy: str
    task: int
    attempt: int
    issue: int = 0
    comment: int = 0
    reaction: Reaction = ""
    text: str = ""
