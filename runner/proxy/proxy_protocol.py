"""What a witness and its proxy agree on: messages, and the hosts an agent may reach.

The witness sends the sockets and one order, a line of JSON, to the proxy's standard
input, and leaves that open; the proxy ends when it is closed, and writes its messages
to its standard output.
"""

import os
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct, json

from convoy.model import records
from grite.outbound import LOCAL_NAMES

Dialect = Literal[
    "anthropic",
    "bedrock",
    "vertex",
    "chat",
    "responses",
    "gemini",
    "gemini-vertex",
    "code-assist",
    "copilot",
]
"""The API that an engine speaks: Anthropic's messages, as they are or in the forms of
Amazon Bedrock and Google Vertex AI, OpenAI's chat completions or responses, Gemini's
generateContent, as it is, at Vertex AI or at Gemini Code Assist, which a Google login
reaches. `copilot` is GitHub's own, for which no other server can stand in."""


class Model(Struct, frozen=True, kw_only=True):
    """A vendor, and the key that the agent must not have."""

    dialect: Dialect
    upstream: str
    """Its server, and the path below which it has the dialect's own paths."""
    key: str
    cut: str = ""
    """What begins the dialect's own paths and is not there at this server."""
    account: str = ""
    """The ChatGPT account whose token the key is; empty: it is another key."""
    outside: bool = False
    """Whether its name may lead only to the public internet."""
    bearer: bool = False
    """Whether the key is one for `Authorization: Bearer`, whatever the dialect."""
    token: str
    """The token that the agent gets instead of the key; only this proxy accepts it."""
    models: tuple[str, ...] = ()
    """The models that may be asked, names with or without `*` in them; none: the first
    that is asked is the only one."""
    helpers: tuple[str, ...] = ()
    """Further models that may be asked, which are never that first."""
    allow: tuple[str, ...] = ()
    """What of the vendor's API is opened besides: `allow` in the configuration."""


class ProxyOrder(Struct, frozen=True, kw_only=True):
    model: Model | None = None
    limits: records.Limits = records.Limits()
    price: records.Price | None = None
    """The model's; without it no cost is known, and a limit of money limits nothing."""
    egress: tuple[str, ...] | None = None
    """The hosts that the agent may reach; None: the proxy serves only the model."""
    token: str = ""
    """What shows that who asks for a host is of this session; empty: nobody else of the
    machine can ask."""


class Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """The base of a proxy's messages, and of an engine's events; some are both."""


_MODEL_CHARS: Final = 100
_EXACT: Final = 1 << 53
Kind = TypeVar("Kind")


class Usage(Event, frozen=True, kw_only=True, tag="usage"):
    """Tokens used since the last such event; of the proxy: by a call that has ended."""

    model: str = ""
    input_tokens: int = 0
    """Input tokens, without those read from the vendor's cache."""
    cached_tokens: int = 0
    output_tokens: int = 0

    def with_each(self, other: "Usage", how: Callable[[int, int], int]) -> "Usage":
        """Return both together: each count is made of theirs."""
        return Usage(
            model=self.model or other.model,
            input_tokens=how(self.input_tokens, other.input_tokens),
            cached_tokens=how(self.cached_tokens, other.cached_tokens),
            output_tokens=how(self.output_tokens, other.output_tokens),
        )

    @property
    def tokens(self) -> records.Usage:
        """The same without the model."""
        return records.Usage(
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
        )


def at(line: object, path: str) -> Any:  # noqa: ANN401  whatever somebody else wrote
    """Return what lies at a path of names with dots between them; None: nothing."""
    for name in path.split("."):
        line = line.get(name) if isinstance(line, dict) else None
    return line


def pick(line: object, path: str, default: Kind) -> Kind:
    """Return what lies at a path, or the default if that is of another type."""
    found = at(line, path)
    if isinstance(default, float) and type(found) is int and abs(found) < _EXACT:
        found = float(found)
    return found if type(found) is type(default) else default


def counted(
    said: object, model: str = "", *, read: str, cached: str = "", written: str
) -> Usage:
    """Return the tokens that are said at these paths.

    Of several with blanks between them it is the sum, less those with `-` before them;
    with `|` between them it is the first that is there.
    """

    def total(terms: str) -> int:
        found = 0
        for term in terms.split():
            counts = (pick(said, path, 0) for path in term.lstrip("-").split("|"))
            count = next(filter(None, counts), 0)
            found += -count if term.startswith("-") else count
        return max(0, found)

    return Usage(
        model=model[:_MODEL_CHARS],
        input_tokens=total(read),
        cached_tokens=total(cached),
        output_tokens=total(written),
    )


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """The agent asked for something forbidden; sent once for each thing."""

    what: str


class Spent(Event, frozen=True, kw_only=True, tag="spent"):
    """A cap is met: no further call is let through."""

    why: str


class Network(Event, frozen=True, kw_only=True, tag="network"):
    """Whether the agent reaches only what its proxy allows, as the box reports."""

    closed: bool = True
    why: str = ""


Told = Usage | Refused | Spent
_TOLD_MOST: Final = 200


class Teller(Struct):
    """Tells the witness of what a proxy's servers meet."""

    _told: set[str] = set()

    def tell(self, told: Told) -> None:
        os.write(1, json.encode(told) + b"\n")

    def refused(self, what: str) -> None:
        self.once(what, Refused(what=what))

    def once(self, key: str, told: Told) -> None:
        if key not in self._told and len(self._told) < _TOLD_MOST:
            self._told.add(key)
            self.tell(told)


USUAL_PORTS: Final = frozenset({80, 443})
LOCALHOST: Final = LOCAL_NAMES[0]
ALL_HOSTS: Final = "*"
"""When listed, agents may reach every host that the machine reaches."""

_INSIDE: Final = (
    ip_network("168.63.129.16/32"),  # Azure's services for a machine
    ip_network("192.0.0.0/24"),  # Oracle's among them
)
"""What is not outside, though not each version of Python says so.

https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
"""
_UNICAST: Final = ip_network("2000::/3")
_WITHIN: Final = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""Addresses of the sixth version whose last 32 bits are one of the fourth.

https://www.rfc-editor.org/rfc/rfc6052
"""


def reachable_hosts(
    listed: tuple[str, ...] | None, *, by_default: bool
) -> tuple[str, ...] | None:
    """Return the only hosts that an agent may reach; None: it may reach all.

    Without a list, an agent may reach no host. `by_default` is the exception: where
    brat does not know how the agent reaches its model, the agent may reach all.
    """
    if listed is None:
        return None if by_default else ()
    return None if ALL_HOSTS in listed else listed


def allows_host(listed: Sequence[str], host: str, port: int) -> bool:
    """Return whether a host, by its name or number as it was asked for, is listed."""
    name = host.lower().rstrip(".")
    for wanted, colon, number in (each.partition(":") for each in listed):
        fits = number == str(port) if colon else port in USUAL_PORTS
        ends = wanted.startswith("*.") and name.endswith(wanted[1:])
        if fits and (ends or name == wanted):
            return True
    return False


def local_services(listed: Sequence[str]) -> tuple[int, ...]:
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
    if isinstance(number, IPv6Address):  # what a translated or tunnelled one stands for
        tunnel = number.teredo[1] if number.teredo else None
        within = any(number in each for each in _WITHIN)
        last = IPv4Address(int(number) & 0xFFFFFFFF) if within else None
        number = last or number.ipv4_mapped or number.sixtofour or tunnel or number
    return (
        number.is_global
        and (number.version == 4 or number in _UNICAST)  # noqa: PLR2004
        and not number.is_multicast
        and not any(number in each for each in _INSIDE)
    )


def is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


REGISTRIES: Final = (
    *("pypi.org", "files.pythonhosted.org", "conda.anaconda.org"),
    *("registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io", "nodejs.org"),
    *("index.crates.io", "static.crates.io", "static.rust-lang.org"),
    *("proxy.golang.org", "sum.golang.org", "go.dev", "dl.google.com"),
    *("rubygems.org", "index.rubygems.org", "repo.packagist.org", "repo.hex.pm"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org"),
    *("services.gradle.org", "api.nuget.org"),
    *("github.com", "codeload.github.com", "raw.githubusercontent.com"),
    *("objects.githubusercontent.com", "release-assets.githubusercontent.com"),
)
"""Where the usual installers of packages and tools look."""


def setup_hosts(
    listed: tuple[str, ...] | None, agents: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the only hosts that the script may reach; None, also of agents: all."""
    if listed is not None or agents is None:
        return reachable_hosts(listed, by_default=True)
    return tuple(dict.fromkeys((*agents, *REGISTRIES)))
