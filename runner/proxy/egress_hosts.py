"""The hosts that an agent may reach: pure rules over `[runner] egress`."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from grite.outbound import LOCAL_NAMES

USUAL: Final = frozenset({80, 443})
LOCAL: Final = LOCAL_NAMES[0]
ALL: Final = "*"
"""When listed, agents may reach every host that the machine reaches."""


def reachable(
    listed: tuple[str, ...] | None, *, by_default: bool
) -> tuple[str, ...] | None:
    """Return the only hosts that an agent may reach; None: it may reach all.

    Without a list, an agent may reach no host. `by_default` is the exception: where
    brat does not know how the agent reaches its model, the agent may reach all.
    """
    if listed is None:
        return None if by_default else ()
    return None if ALL in listed else listed


def allows(listed: Sequence[str], host: str, port: int) -> bool:
    """Return whether a host, by its name or number as it was asked for, is listed."""
    name = host.lower().rstrip(".")
    return any(_fits(each, name, port) for each in listed)


def services(listed: Sequence[str]) -> tuple[int, ...]:
    """Return the ports of the machine's own loopback that are listed."""
    split = (each.rpartition(":") for each in listed)
    ports = {int(port) for name, _, port in split if name in LOCAL_NAMES}
    return tuple(sorted(port for port in ports if 0 < port < 65536))  # noqa: PLR2004


def is_outside(address: str) -> bool:
    """Return whether a name may lead to an address: not to this machine or its cloud's.

    The owner of a name decides where it leads, and cloud machines serve their
    secrets on link-local addresses.
    """
    number: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(number, IPv6Address):
        number = number.ipv4_mapped or number
    return not (
        number.is_loopback
        or number.is_link_local
        or number.is_multicast
        or number.is_unspecified
    )


def is_number(host: str) -> bool:
    """Return whether the host is an address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _fits(each: str, name: str, port: int) -> bool:
    wanted, colon, number = each.partition(":")
    if port not in USUAL if not colon else number != str(port):
        return False
    if wanted.startswith("*."):
        return name.endswith(wanted[1:])
    return name == wanted
