"""Leases that are held, and actions on the forge that were announced and done."""

from typing import Literal

from convoy.events.parts import Fact


class LeaseTaken(Fact, frozen=True, kw_only=True, tag="lease.taken"):
    """A resource belongs to `holder` until `expires` (unix ms)."""

    resource: str
    holder: str
    nonce: str
    expires: int


class LeaseFreed(Fact, frozen=True, kw_only=True, tag="lease.freed"):
    """The resource is free again."""

    resource: str
    nonce: str


ActionKind = Literal["dispatch", "pull", "comment", "finish", "answer", "notify"]
Reaction = Literal["", "rocket", "confused", "-1"]


class ActionIntended(Fact, frozen=True, kw_only=True, tag="action.intended"):
    """Something the forge does not make idempotent is about to be done, under a key."""

    key: str
    kind: ActionKind
    convoy: str = ""
    """Empty for an answer that concerns none."""
    task: int = 0
    attempt: int = 0
    issue: int = 0
    """Of an answer: where it is said."""
    comment: int = 0
    """Of an answer: the comment it is about."""
    reaction: Reaction = ""
    """Of an answer: what is put under that comment."""
    text: str = ""
    """Of an answer or a notification: what is said; empty: nothing, or the usual."""


class ActionDone(Fact, frozen=True, kw_only=True, tag="action.done"):
    """It was done; `number` is the run's id, the pull request or the comment."""

    key: str
    number: int


class CommentSaid(Fact, frozen=True, kw_only=True, tag="comment.said"):
    """The convoy's comment stands on the issue and is edited from here on."""

    convoy: str
    issue: int
    comment: int
