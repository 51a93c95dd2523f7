"""The messages between a witness and its proxy, each one line of JSON.

The witness writes one order to the proxy's standard input and leaves that open; the
proxy ends when it is closed. The proxy writes its messages to its standard output.
"""

from typing import Literal

from msgspec import Struct

from convoy.model.records import Price

Dialect = Literal["anthropic", "chat", "responses", "gemini", "copilot"]
"""The API that an engine speaks: Anthropic's messages, OpenAI's chat completions or
responses, Gemini's generateContent. `copilot` is GitHub's own, for which no other
server can stand in."""


class Model(Struct, frozen=True, kw_only=True):
    """A vendor, and the key that the agent must not have."""

    dialect: Dialect
    upstream: str
    """Its server, and the path below which it has the dialect's own paths."""
    key: str
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


class Caps(Struct, frozen=True, kw_only=True):
    """The caps of one session; None: no cap."""

    calls: int | None = None
    tokens: int | None = None
    """The sum of tokens read, written and from the vendor's cache."""
    usd: float | None = None
    price: Price | None = None
    """The price; without it no cost is known, and `usd` caps nothing."""


class ProxyOrder(Struct, frozen=True, kw_only=True):
    """The order for one proxy."""

    model: Model | None = None
    caps: Caps = Caps()
    egress: tuple[str, ...] | None = None
    """The hosts that the agent may reach; None: the proxy serves only the model."""


class _Told(Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class Ready(_Told, frozen=True, kw_only=True, tag="ready"):
    """The proxy can be reached; always its first message."""

    url: str
    """Its address as the model's vendor."""
    egress: str = ""
    """Its address as a proxy for all other hosts."""


class Metered(_Told, frozen=True, kw_only=True, tag="metered"):
    """A call of the model has ended."""

    model: str = ""
    input_tokens: int = 0
    """Input tokens, without those read from the vendor's cache."""
    cached_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    """Whether the vendor gave no figures, and four bytes were counted as a token."""


class Refused(_Told, frozen=True, kw_only=True, tag="refused"):
    """The agent asked for something forbidden; sent once for each thing."""

    what: str


class Spent(_Told, frozen=True, kw_only=True, tag="spent"):
    """A cap is met: no further call is let through."""

    why: str


class Enclosed(_Told, frozen=True, kw_only=True, tag="enclosed"):
    """The agent's network was closed, or could not be."""

    why: str = ""
    """Why the network could not be closed; empty: it is closed."""


Told = Ready | Metered | Refused | Spent | Enclosed
