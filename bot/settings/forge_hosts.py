"""Where the API of a GitHub is, by the name of its host."""

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
    """Whether an API is one that GitHub runs."""
    return is_cloud((urlsplit(api_url).hostname or "").removeprefix("api."))
