"""What is asked of a whole repository: its bot, its leases, its answers."""

from msgspec import Struct

from convoy.events import Reaction


class StartBot(Struct, frozen=True, kw_only=True):
    """Let this actor speak for a bot."""

    actor: str
    version: str


class PauseAll(Struct, frozen=True, kw_only=True):
    """A person wants nothing new to start or to be accepted."""

    by: str


class ResumeAll(Struct, frozen=True, kw_only=True):
    """A person lets everything go on."""

    by: str


class TakeLease(Struct, frozen=True, kw_only=True):
    """A person wants a resource for themselves; the shell has checked its form."""

    resource: str
    holder: str
    nonce: str
    now: int
    ttl_s: int


class RenewLease(Struct, frozen=True, kw_only=True):
    """The holder wants to keep it for `ttl_s` from `now`."""

    resource: str
    holder: str
    nonce: str
    now: int
    ttl_s: int


class FreeLease(Struct, frozen=True, kw_only=True):
    """The holder gives it up."""

    resource: str
    holder: str
    nonce: str


class ExpireLease(Struct, frozen=True, kw_only=True):
    """It has run out."""

    resource: str
    nonce: str
    now: int


class Answer(Struct, frozen=True, kw_only=True):
    """What a comment asked for has been decided; tell its author."""

    issue: int
    comment: int = 0
    """0: it was no comment, but what `sign` names."""
    sign: str = ""
    """A review or a tick: see `ids.sign_key`."""
    reaction: Reaction = ""
    text: str


class NoteDone(Struct, frozen=True, kw_only=True):
    """An announced action was done (or found done) on the forge."""

    key: str
    number: int
