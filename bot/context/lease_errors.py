"""Why a bot may not act now: it does not hold the lease, or not for long enough."""

from grite.errors import BratError, Unavailable


class NotHolder(BratError):
    """Another bot holds the lease; this one waits."""


class LeaseTooOld(Unavailable):
    """The lease may end before a write arrives; nothing was sent."""
