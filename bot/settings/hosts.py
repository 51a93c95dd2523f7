"""Hosts and networks: where a GitHub's API is, and where deliveries may come from.

The networks are a check beside the signature.
https://docs.github.com/rest/meta/meta#get-github-meta-information (hooks)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

GITHUB: Final = "github.com"
GHE_COM: Final = ".ghe.com"
"""The hosts of enterprises whose data stay in a region.

https://docs.github.com/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom
"""


def is_cloud(host: str) -> bool:
    """Whether GitHub runs it; else it is an Enterprise Server or a forge of ours."""
    return host == GITHUB or host.endswith(GHE_COM)


def api_url_of(host: str) -> str:
    """Return the API's address; `host` may have a port."""
    return f"https://api.{host}" if is_cloud(host) else f"https://{host}/api/v3"


def is_clouds(api_url: str) -> bool:
    return is_cloud((urlsplit(api_url).hostname or "").removeprefix("api."))


@dataclass(frozen=True, kw_only=True)
class Origins:
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """The allowed networks; empty: all."""
    proxies: int = 0
    """How many of our proxies are in front of the door. Each appends its peer's address
    to X-Forwarded-For; entries further left come from strangers."""

    def allow(self, peer: str | None, forwarded: Sequence[str]) -> bool:
        if not self.networks:
            return True
        try:
            found = ip_address(self.sender(peer, forwarded))
        except ValueError:
            return False
        address = getattr(found, "ipv4_mapped", None) or found
        return any(address in each for each in self.networks)

    def sender(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """Return the sender's address as our outermost proxy saw it; empty: unknown."""
        if not self.proxies:
            return peer or ""
        heard = [each.strip() for line in forwarded for each in line.split(",")]
        return heard[-self.proxies] if len(heard) >= self.proxies else ""
