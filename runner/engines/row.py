"""The facts that the witness needs about a kind of agent, and the key of its model.

The key comes from one variable of the job's environment, which the configuration names
(`secret`), or else the engine's row. No file of the repository and no event holds one.
"""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field, json
from msgspec.structs import replace

from convoy.model.engine_types import PROVIDERS
from convoy.model.records import EngineSpec
from grite.errors import repr_without
from runner.box.supervisor import Stream
from runner.engines.engine_events import Said
from runner.proxy.proxy_protocol import Dialect

SERVERS: Mapping[Dialect, str] = {
    "anthropic": "https://api.anthropic.com",
    "chat": "https://api.openai.com",
    "responses": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""The configuration or the provider names those of all other dialects."""


class Vendor(Struct, frozen=True):
    """One way in which a kind of agent reaches models."""

    dialect: Dialect
    key: str
    """The variable in which the engine looks for its key."""
    url: str = ""
    """The variable in which the engine looks for the server's address."""
    writes: str = ""
    """Where else the row writes that address: an argument, a file, a variable with
    many parts. If this and `url` are empty, the engine cannot be pointed at another
    server."""
    path: str = ""
    """The path after the server's address, such as `/v1`."""
    models: tuple[str, ...] = ()
    """The beginnings of the models of this vendor; all others go to the row's first
    vendor."""
    secret: str = ""
    """The variable of the job that holds its key; empty: `key`."""
    sets: Mapping[str, str] = {}
    """Variables that make the engine reach its models this way."""
    server: str = ""
    """Its own server, whose address ends before the dialect's own paths, and with
    OpenAI's dialects after their `/v1`; empty: the usual one of its dialect."""


NO_VENDOR: Final = Vendor("chat", "")
"""That of an engine that needs no key of ours."""


def provided(name: str, way: Vendor) -> Vendor:
    """Return how an engine reaches a provider that it asks in that way."""
    known = PROVIDERS[name]
    return replace(way, models=(f"{name}/",), secret=known.key, server=known.url)


class Key(Struct, frozen=True):
    variable: str
    """The variable in which its engine wants it."""
    value: str

    def __repr__(self) -> str:
        return repr_without(self, "value")


STAND_IN_KEY: Final = "brat"
"""The key for a server that stands in for the vendor, if there is no real key."""


class Call(Struct, frozen=True):
    row: "Row"
    spec: EngineSpec
    prompt: Path = Path("prompt.md")
    """The file with the whole prompt; not there yet when only the program is asked
    for (`program_of`), so a row may name it in `argv` but must not read it."""
    home: Path = Path("home")
    """Its fresh HOME, which holds only the row's `files`."""
    key: Key | None = None
    steered: bool = False
    """Whether the row's `says` words its prompt and later messages."""
    endpoint: str = ""
    """The address of a server that stands in for the vendor's, without a path, such
    as `http://127.0.0.1:8000`; empty: none does."""

    @property
    def vendor(self) -> Vendor:
        """The vendor of its model, one that allows a stand-in if needed."""
        pointed = self.endpoint or self.spec.url
        ways = [e for e in self.row.vendors if not pointed or can_be_pointed(e)]
        model = self.spec.model or ""
        meant = (each for each in ways if model.startswith(each.models or ("\0",)))
        return next(meant, ways[0] if ways else NO_VENDOR)

    @property
    def model(self) -> str:
        """The model without the word before the `/` that chose the vendor."""
        model = self.spec.model or ""
        for beginning in self.vendor.models:
            if beginning.endswith("/") and model.startswith(beginning):
                return model.removeprefix(beginning)
        return model

    @property
    def server(self) -> str:
        """The address that the engine must send to, its path included."""
        vendor = self.vendor
        return (self.endpoint or SERVERS.get(vendor.dialect, "")) + vendor.path

    @property
    def upstream(self) -> tuple[str, str]:
        """The server that is asked, and what begins paths and is not there.

        A server that stands in for another one has the same paths.
        """
        vendor = self.vendor
        named = self.spec.url or vendor.server
        own = named or SERVERS.get(vendor.dialect, "")
        cut = "/v1" if named and vendor.dialect in ("chat", "responses") else ""
        return (self.endpoint + urlsplit(own).path if self.endpoint else own), cut

    def reached_by(self) -> dict[str, str]:
        """Return the variables with the engine's key and the server to call instead."""
        vendor = self.vendor
        told = {self.key.variable: self.key.value} if self.key else {}
        told |= vendor.sets
        if vendor.url and self.endpoint:
            told[vendor.url] = self.server
        return told

    def with_key(self, offered: Mapping[str, str]) -> "Call":
        """Return it with the key that `offered` holds for it, if there is one."""
        vendor = self.vendor
        for name in filter(offered.get, self._keys()):
            variable = name if name in self.row.also else vendor.key or name
            return replace(self, key=Key(variable, offered[name]))
        if vendor.key and self.endpoint:
            return replace(self, key=Key(vendor.key, STAND_IN_KEY))
        return self

    def missing_key(self) -> str:
        """Return a sentence that says that the key is missing, or "" if it is there."""
        row, vendor = self.row, self.vendor
        if can_be_pointed(vendor) and not self.upstream[0]:
            return f"The engine {row.name} needs a url for its model {self.spec.model}."
        if self.key or not (vendor.key or self.spec.secret):
            return ""
        return (
            f"The engine {row.name} needs its key in the variable "
            f"{' or '.join(self._keys())}, which is not set in the job's environment."
        )

    def _keys(self) -> tuple[str, ...]:
        """Return the variables of the job that may hold its key, the first first."""
        vendor = self.vendor
        if named := self.spec.secret or vendor.secret:
            return (named,)
        return (vendor.key, *self.row.also) if vendor.key else ()


Reader = Callable[[Stream, str], Iterable[Said]]
"""Understands one line of output, without its line break. Never raises."""


class Row(Struct, frozen=True):
    """How a kind of agent is started and understood."""

    name: str
    argv: Callable[[Call], tuple[str, ...]]
    """The program, which is looked for on the PATH, and its arguments; reads no file.
    Raises ValueError with one sentence when the engine's settings allow none."""
    read: Reader
    prompt: Literal["stdin", "argument"] = "stdin"
    """Whether the prompt is the program's input, or `argv` says where it is."""
    vendors: tuple[Vendor, ...] = ()
    """The ways it reaches models, usual way first; empty: it needs no key of ours."""
    says: Callable[[str], bytes] | None = None
    """Words a message for its standard input while it runs. It must be started with
    `Call.steered`, and then counts what it uses from its start. None: it takes no
    messages."""
    also: tuple[str, ...] = ()
    """Other variables that may hold its key, such as one for a subscription."""
    sets: Callable[[Call], Mapping[str, str]] = field(default=lambda _call: {})
    """Variables that only this engine gets, besides its key and its server."""
    files: Callable[[Call], Mapping[str, str]] = field(default=lambda _call: {})
    """Files to write into its HOME before it starts, by their path there."""
    leaves: str = ""
    """A file in its HOME, written at its end, that reports its usage."""
    recount: Callable[[str], Iterable[Said]] = field(default=lambda _text: ())
    """Understands that file. Never raises."""
    aliases: Mapping[str, str] = {}
    """The models that its own short names stand for, with or without `*` in them."""
    helpers: tuple[str, ...] = ()
    """Further models that it asks by itself, cheaper ones for small work, with or
    without `*` in them."""
    litter: tuple[str, ...] = ()
    """Litter that it leaves in the checkout; patterns as in .gitignore."""
    ends: Literal["says", "exits"] = "says"
    """Whether it says that it is done, or only exits with 0."""
    is_quiet: bool = False
    """Whether it may work silently, so that silence is no sign of a hang."""
    tools: str = ""
    """Some tools in its own terms, as `tools` in the configuration lists them; empty:
    it takes no such list."""
    install: str = ""
    """The command by which a person installs its program; empty: brat knows none."""
    npm: tuple[str, str] = ("", "")
    """Its package, and where its program is among the modules: not npm's start script,
    for a signal does not reach an agent behind one. Empty: npm does not have it."""
    sample_model: str = ""
    """A model name that it knows, for the demo's scripted vendor and for tests."""

    def __post_init__(self) -> None:
        if self.also and not self.vendors:
            raise ValueError(
                f"The engine {self.name} accepts a key in {', '.join(self.also)} but "
                "has no vendors: add `vendors` to its row."
            )


def program_of(row: Row, spec: EngineSpec) -> str:
    """Return the program that settings start; raise a ValueError if they allow none."""
    return row.argv(Call(row, spec))[0]


def can_be_pointed(vendor: Vendor) -> bool:
    """Return whether another server can stand in for the vendor's own."""
    return bool(vendor.url or vendor.writes)


def chatgpt_account(token: str) -> str:
    """Return the account that a ChatGPT login's token names, or "".

    https://developers.openai.com/codex/auth
    """
    _, _, rest = token.partition(".")
    part = rest.partition(".")[0]
    try:
        claims = json.decode(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return str(claims["https://api.openai.com/auth"]["chatgpt_account_id"])
    except (ValueError, LookupError, TypeError):
        return ""
