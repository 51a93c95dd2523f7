"""Who speaks for a bot, and who holds a resource: one holder, for all that overlaps it.

An expired lease is free for whoever asks next, and the deacon removes it. The bot's own
lease is not here; it travels with its pushes.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import Event, Events, Refusal, copied
from convoy.model.state import Lease, State
from convoy.text import clock
from grite.resource import BOT, overlaps


class BotStarted(Event, frozen=True, kw_only=True, tag="bot.started"):
    """The event's actor becomes a bot."""

    SAYS = "A bot with version {version} started."
    version: str

    def change(self, state: State) -> State:
        return state  # the fold, which knows the event's actor, adds the bot


class StartBot(Struct, frozen=True, kw_only=True):
    """Let this actor speak for a bot."""

    actor: str
    version: str

    def decide(self, state: State) -> Events:
        if self.actor in state.bots:
            raise Refusal(f"actor {self.actor} is already a bot")
        return (BotStarted(version=self.version),)


class LeaseTaken(Event, frozen=True, kw_only=True, tag="lease.taken"):
    """A resource belongs to `holder` until `expires` (unix ms)."""

    SAYS = "{holder} holds {resource}."
    resource: str
    holder: str
    nonce: str
    expires: int

    def change(self, state: State) -> State:
        leases = {**state.leases, self.resource: copied(Lease, self)}
        return replace(state, leases=leases)


class LeaseFreed(Event, frozen=True, kw_only=True, tag="lease.freed"):
    """The resource is free again."""

    SAYS = "{resource} is free."
    resource: str
    nonce: str

    def change(self, state: State) -> State:
        leases = dict(state.leases)
        leases.pop(self.resource, None)
        return replace(state, leases=leases)


def freed(leases: Iterable[Lease]) -> Events:
    return tuple(copied(LeaseFreed, each) for each in leases)


class TakeLease(Struct, frozen=True, kw_only=True):
    """A person wants a resource for themselves; the shell has checked its form."""

    resource: str
    holder: str
    nonce: str
    now: int
    ttl_s: int

    def decide(self, state: State) -> Events:
        if self.resource == BOT:
            raise Refusal(f"{BOT} is the bot's own lease, which no one else can hold")
        met = [
            lease
            for lease in state.leases.values()
            if overlaps(lease.resource, self.resource)
        ]
        for lease in met:
            if lease.expires > self.now:
                raise Refusal(
                    f"{self.resource} overlaps {lease.resource}, which {lease.holder} "
                    f"holds until {clock(lease.expires)}"
                )
        taken = copied(LeaseTaken, self, expires=self.now + self.ttl_s * 1000)
        return (*freed(met), taken)


class RenewLease(TakeLease, frozen=True, kw_only=True):
    """The holder wants to keep the resource for `ttl_s` from `now`."""

    def decide(self, state: State) -> Events:
        lease = _held(state, self)
        expires = max(lease.expires, self.now + self.ttl_s * 1000)
        return (copied(LeaseTaken, self, expires=expires),)


class FreeLease(Struct, frozen=True, kw_only=True):
    resource: str
    holder: str
    nonce: str

    def decide(self, state: State) -> Events:
        _held(state, self)
        return (copied(LeaseFreed, self),)


class ExpireLease(Struct, frozen=True, kw_only=True):
    resource: str
    nonce: str
    now: int

    def decide(self, state: State) -> Events:
        lease = state.leases.get(self.resource)
        if lease is None or lease.nonce != self.nonce:
            raise Refusal(f"{self.resource} is now free or held by someone else")
        if lease.expires > self.now:
            raise Refusal(
                f"{lease.holder} holds {lease.resource} until {clock(lease.expires)}"
            )
        return (copied(LeaseFreed, self),)


def _held(state: State, command: RenewLease | FreeLease) -> Lease:
    lease = state.leases.get(command.resource)
    if lease is None:
        raise Refusal(f"no one holds {command.resource}")
    if (lease.holder, lease.nonce) != (command.holder, command.nonce):
        raise Refusal(f"{command.resource} is held by {lease.holder}, not by you")
    return lease
