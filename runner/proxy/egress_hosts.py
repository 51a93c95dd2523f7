"""The hosts that an agent may reach: pure rules over `[runner] egress`."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from grite.outbound import LOCAL_NAMES

USUAL: Final = frozenset({80, 443})
LOCAL: Final = LOCAL_NAMES[0]
ALL: Final = "*"
"""When listed, agents may reach every host that the machine reaches."""

_INSIDE: Final = (
    ip_network("168.63.129.16/32"),  # Azure's services for a machine
    ip_network("192.0.0.0/24"),  # Oracle's among them
    ip_network("64:ff9b:1::/48"),  # a network's own translation, RFC 8215
)
"""What is not outside, though not each version of Python says so.

https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
"""
_WITHIN: Final = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""Addresses of the sixth version whose last 32 bits are one of the fourth.

https://www.rfc-editor.org/rfc/rfc6052
"""


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
    """Return whether a name may lead to an address: only to the public internet.

    The owner of a name decides where it leads, and machines and clouds serve their
    secrets on addresses of their own, however these are written.
    """
    number: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(number, IPv6Address):
        number = _inner(number)
    return (
        number.is_global
        and not number.is_multicast
        and not any(number in each for each in _INSIDE)
    )


def _inner(number: IPv6Address) -> IPv4Address | IPv6Address:
    """Return the address that a translated or tunnelled one stands for."""
    if any(number in each for each in _WITHIN):
        return IPv4Address(int(number) & 0xFFFFFFFF)
    tunnel = number.teredo[1] if number.teredo else None
    return number.ipv4_mapped or number.sixtofour or tunnel or number


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
