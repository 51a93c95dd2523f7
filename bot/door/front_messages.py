"""What a front process and the bot tell each other: JSON, a line each.

The bot writes `Setup`, then `Destinations` whenever they change, to the standard input
of the front, which ends with it. The front writes the others to its standard output.
"""

from ipaddress import ip_network

import msgspec

from bot.settings.origins import Origins


class Setup(msgspec.Struct, frozen=True, tag=True):
    """How a front listens. It holds no key and no token of the bot."""

    listener: int
    """The descriptor of the listening socket."""
    behind: str
    """The Unix socket where the bot answers what is passed on."""
    networks: tuple[str, ...] = ()
    """The networks from which deliveries may come; empty: all."""
    proxies: int = 0
    """How many of our proxies are in front."""
    secrets: tuple[str, ...] = ()
    """The webhook's; empty: it takes no deliveries."""
    version: str = ""

    def __repr__(self) -> str:
        """Return it without the secrets."""
        return f"Setup(listener={self.listener}, behind={self.behind!r})"

    @property
    def origins(self) -> Origins:
        """Where requests may come from."""
        networks = tuple(ip_network(each) for each in self.networks)
        return Origins(networks=networks, proxies=self.proxies)


class Destination(msgspec.Struct, frozen=True):
    """A repository to which deliveries go."""

    name: str
    """Its name in the bot: the full name in lower case."""
    repository_id: int
    label: str
    login: str
    inbox: str
    """The folder of its inbox."""


class Destinations(msgspec.Struct, frozen=True, tag=True):
    """All repositories that are served now."""

    all: tuple[Destination, ...]


class Opened(msgspec.Struct, frozen=True, tag=True):
    """The front listens."""


class RequestKept(msgspec.Struct, frozen=True, tag=True):
    """The inbox of a repository holds one more request."""

    name: str


class PartChanged(msgspec.Struct, frozen=True, tag=True):
    """A part of a repository may have changed."""

    name: str
    part: str


class RosterChanged(msgspec.Struct, frozen=True, tag=True):
    """The App may have been installed or removed somewhere."""


class DeliveryAnswered(msgspec.Struct, frozen=True, tag=True):
    """A delivery was answered."""

    event: str
    status: int
    seconds: float


class Logged(msgspec.Struct, frozen=True, tag=True):
    """A line for the bot's log."""

    level: int
    logger: str
    line: str


ToFront = Setup | Destinations
FromFront = (
    Opened | RequestKept | PartChanged | RosterChanged | DeliveryAnswered | Logged
)
