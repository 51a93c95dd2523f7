"""`brat lock`: what people hold, beside what sessions hold."""

import secrets
from datetime import UTC, datetime
from typing import Final

from rich import box
from rich.table import Table

from convoy.commands import Command, FreeLease, RenewLease, TakeLease
from convoy.state import Lease, State
from grite.errors import BratError
from grite.resource import validate

TTL_S: Final = 300


def table(state: State, now: int) -> Table:
    """Return the leases as a table."""
    made = Table(box=box.SIMPLE)
    for column in ("resource", "holder", "until", ""):
        made.add_column(column, no_wrap=True)
    for lease in sorted(state.leases.values(), key=lambda each: each.resource):
        until = datetime.fromtimestamp(lease.expires / 1000, UTC)
        over = "run out" if lease.expires <= now else ""
        made.add_row(lease.resource, lease.holder, f"{until:%H:%M:%S} UTC", over)
    return made


def acquire(resource: str, holder: str, now: int, ttl_s: int) -> Command:
    """Return the command that takes a resource.

    Raises:
        BratError: it is no resource; one sentence says what is.
    """
    try:
        validate(resource)
    except ValueError as error:
        raise BratError(str(error)) from error
    nonce = secrets.token_hex(8)
    return TakeLease(
        resource=resource, holder=holder, nonce=nonce, now=now, ttl_s=ttl_s
    )


def renew(state: State, resource: str, holder: str, now: int, ttl_s: int) -> Command:
    """Return the command that keeps a resource longer."""
    nonce = _held(state, resource).nonce
    return RenewLease(
        resource=resource, holder=holder, nonce=nonce, now=now, ttl_s=ttl_s
    )


def release(state: State, resource: str, holder: str) -> Command:
    """Return the command that gives a resource up."""
    nonce = _held(state, resource).nonce
    return FreeLease(resource=resource, holder=holder, nonce=nonce)


def _held(state: State, resource: str) -> Lease:
    lease = state.leases.get(resource)
    if lease is None:
        raise BratError(f"nobody holds {resource}; see `brat lock status`")
    return lease
