"""Who may hold a resource: one holder at a time, over all that overlaps it.

A lease that has run out is free for the next who asks, and is swept by the deacon; the
bot's own lease is not in here, it travels with its pushes.
"""

from convoy.commands import ExpireLease, FreeLease, RenewLease, TakeLease
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import LeaseFreed, LeaseTaken
from convoy.state import Lease, State
from grite.resource import overlaps


def take(state: State, command: TakeLease) -> Decision:
    """Give the resource to somebody, for a time."""
    met = [
        lease
        for lease in state.leases.values()
        if overlaps(lease.resource, command.resource)
    ]
    for lease in met:
        if lease.expires > command.now:
            return Refusal(
                f"{command.resource} overlaps {lease.resource}, which {lease.holder} "
                f"holds until {lease.expires}"
            )
    expired: Events = tuple(_freed(lease) for lease in met)
    taken = LeaseTaken(
        resource=command.resource,
        holder=command.holder,
        nonce=command.nonce,
        expires=command.now + command.ttl_s * 1000,
    )
    return (*expired, taken)


def renew(state: State, command: RenewLease) -> Decision:
    """Let the holder keep it longer; it shows its nonce."""
    lease = _held(state, command)
    if isinstance(lease, Refusal):
        return lease
    expires = command.now + command.ttl_s * 1000
    return (
        LeaseTaken(
            resource=lease.resource,
            holder=lease.holder,
            nonce=lease.nonce,
            expires=max(lease.expires, expires),
        ),
    )


def free(state: State, command: FreeLease) -> Decision:
    """Take the resource back from the holder who gives it up."""
    lease = _held(state, command)
    return lease if isinstance(lease, Refusal) else (_freed(lease),)


def expire(state: State, command: ExpireLease) -> Decision:
    """Free what has run out, whoever holds it."""
    lease = state.leases.get(command.resource)
    if lease is None or lease.nonce != command.nonce:
        return Refusal(f"{command.resource} is free or somebody else's by now")
    if lease.expires > command.now:
        return Refusal(f"{lease.holder} holds {lease.resource} until {lease.expires}")
    return (_freed(lease),)


def _held(state: State, command: RenewLease | FreeLease) -> Lease | Refusal:
    lease = state.leases.get(command.resource)
    if lease is None:
        return Refusal(f"nobody holds {command.resource}")
    if (lease.holder, lease.nonce) != (command.holder, command.nonce):
        return Refusal(f"{command.resource} is held by {lease.holder}, not by you")
    return lease


def _freed(lease: Lease) -> LeaseFreed:
    return LeaseFreed(resource=lease.resource, nonce=lease.nonce)
