"""What a witness and its proxy tell each other: one line of JSON each.

The witness writes one errand to the proxy's standard input and leaves that open; the
proxy ends when it closes. The proxy writes what it has to tell to its standard output.
"""

from typing import Literal

from msgspec import Struct

from convoy.events import Price

Dialect = Literal["anthropic", "chat", "responses", "gemini", "copilot"]
"""What is spoken on the wire: Anthropic's messages, OpenAI's chat completions or
responses, Gemini's generateContent; `copilot` is GitHub's own and cannot be stood in
for."""


class Model(Struct, frozen=True, kw_only=True):
    """A vendor, and the key that the agent must not have."""

    dialect: Dialect
    upstream: str
    """Its server, without a path."""
    key: str
    bearer: bool = False
    """Whether the key is one for `Authorization: Bearer`, whatever the dialect."""
    token: str
    """What the agent has instead of the key; it is worth something only here."""


class Caps(Struct, frozen=True, kw_only=True):
    """What one session may use; None: as much as it takes."""

    calls: int | None = None
    tokens: int | None = None
    """Read, written and from the vendor's cache, all together."""
    usd: float | None = None
    price: Price | None = None
    """Without it no money is known, and `usd` caps nothing."""


class Errand(Struct, frozen=True, kw_only=True):
    """All that a proxy is for."""

    model: Model | None = None
    caps: Caps = Caps()
    egress: tuple[str, ...] | None = None
    """The hosts that the agent may reach; None: nobody asks the proxy for others."""


class _Told(Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class Ready(_Told, frozen=True, kw_only=True, tag="ready"):
    """It can be reached; always the first word."""

    url: str
    """Where it stands in for the model's vendor."""
    egress: str = ""
    """Where it is a proxy for all else."""


class Metered(_Told, frozen=True, kw_only=True, tag="metered"):
    """A call of the model has ended."""

    model: str = ""
    input_tokens: int = 0
    """Without those read from the vendor's cache."""
    cached_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    """The vendor did not say; four bytes were taken for a token."""


class Refused(_Told, frozen=True, kw_only=True, tag="refused"):
    """The agent asked for something that it may not have; each is told once."""

    what: str


class Spent(_Told, frozen=True, kw_only=True, tag="spent"):
    """A cap is met: no further call is let through."""

    why: str


class Enclosed(_Told, frozen=True, kw_only=True, tag="enclosed"):
    """The agent's network was closed, or could not be."""

    why: str = ""
    """Why it could not; empty: it is closed."""


Told = Ready | Metered | Refused | Spent | Enclosed
