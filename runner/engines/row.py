"""What the witness must know about a kind of agent."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from convoy.events import EngineSpec, TaskStarted
from grite.shown import without
from runner.engines.events import Said
from runner.supervise import Stream
from runner.wire import Dialect

SERVERS: Mapping[Dialect, str] = {
    "anthropic": "https://api.anthropic.com",
    "chat": "https://api.openai.com",
    "responses": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""The vendors' own servers, by dialect."""


class Vendor(Struct, frozen=True):
    """One way in which a kind of agent reaches models."""

    dialect: Dialect
    key: str
    """The variable in which the engine looks for its key."""
    url: str = ""
    """The variable in which it looks for the server's address."""
    writes: str = ""
    """Where else its row writes that address: an argument, a file, a variable of many
    parts. Without this and `url` the engine cannot be pointed at another server."""
    path: str = ""
    """What comes after the server's address, such as `/v1`."""
    models: tuple[str, ...] = ()
    """Beginnings of the models that go this way; all others go the row's first way."""


class Key(Struct, frozen=True):
    """A key for a model, and how its engine wants to be given it."""

    variable: str
    value: str

    def __repr__(self) -> str:
        return without(self, "value")


class Call(Struct, frozen=True):
    """One start of an engine."""

    spec: EngineSpec
    prompt: Path
    """The file with the whole prompt."""
    home: Path
    """Its HOME, fresh: it holds what the row's `files` says, and nothing else."""
    key: Key | None = None
    steered: bool = False
    """Whether it is told its prompt, and more later, as its row's `says` words it."""
    endpoint: str = ""
    """Who stands in for the vendor's server: an address without a path, such as
    `http://127.0.0.1:8000`; empty: nobody."""


Reader = Callable[[Stream, str], Iterable[Said]]
"""Understands one line of output, without its line break. Never raises."""


def _nothing(_call: Call) -> Mapping[str, str]:
    return {}


class Abilities(Struct, frozen=True):
    """What a kind of agent can do, in a few words for people; empty: nothing."""

    resume: str = ""
    """The arguments by which its own earlier session is taken up."""
    usage: str = ""
    """Where it says how many tokens it used."""
    cost: str = ""
    """Where it says what that cost."""
    tools: str = ""
    """Some tools in its own terms, as `tools` in the configuration lists them; empty:
    it can be told no such list."""
    limits: str = ""
    """What one has to know: a sentence or two."""


class Row(Struct, frozen=True):
    """How a kind of agent is started and understood."""

    name: str
    """The `type` in the configuration."""
    argv: Callable[[Call], tuple[str, ...]]
    """The program, which is looked for on the PATH, and its arguments. Raises
    ValueError with one sentence when the engine's settings allow none."""
    read: Reader
    prompt: Literal["stdin", "argument"] = "stdin"
    """Whether the prompt is the program's input, or `argv` says where it is."""
    tells: Callable[[TaskStarted], str] | None = None
    """Words what that file holds; None: the prompt that agents are given."""
    vendors: tuple[Vendor, ...] = ()
    """How it reaches models, the usual way first; none: it needs no key of ours."""
    says: Callable[[str], bytes] | None = None
    """Words something for its standard input while it runs, where it was started with
    `Call.steered`; it then counts what it used from its start. None: it takes none."""
    also: tuple[str, ...] = ()
    """Other variables it takes a key in, such as one for a subscription."""
    sets: Callable[[Call], Mapping[str, str]] = field(default=_nothing)
    """Variables it gets beside those of all engines, its key and its server."""
    files: Callable[[Call], Mapping[str, str]] = field(default=_nothing)
    """Files to write into its HOME first, by their path in it."""
    leaves: str = ""
    """A file in its HOME, written at its end, that says what it used."""
    recount: Callable[[str], Iterable[Said]] = field(default=lambda _text: ())
    """Understands that file. Never raises."""
    litter: tuple[str, ...] = ()
    """Files it leaves in the checkout that are no work; patterns as in .gitignore."""
    ends: Literal["says", "exits"] = "says"
    """Whether it says that it is done, or only exits with 0."""
    is_quiet: bool = False
    """Whether it may well say nothing while it works, so that silence means nothing."""
    can: Abilities = Abilities()

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables in which it takes keys."""
        return (*(vendor.key for vendor in self.vendors), *self.also)


def vendor_of(row: Row, call: Call) -> Vendor | None:
    """Return the way the engine's model is reached; None: the row needs none.

    With somebody to stand in for the server it is a way in which that is possible.
    """
    ways = [each for each in row.vendors if not call.endpoint or can_be_pointed(each)]
    model = call.spec.model or ""
    meant = (each for each in ways if model.startswith(each.models or ("\0",)))
    return next(meant, ways[0] if ways else None)


def can_be_pointed(vendor: Vendor) -> bool:
    """Return whether another server than the vendor's own can be put in its place."""
    return vendor.dialect in SERVERS and bool(vendor.url or vendor.writes)


def is_pointed(row: Row, call: Call) -> bool:
    """Return whether the engine of this call can be pointed at the key proxy."""
    vendor = vendor_of(row, call)
    return vendor is not None and can_be_pointed(vendor)


def server(vendor: Vendor, call: Call) -> str:
    """Return the address that the engine must send to, its path included."""
    return (call.endpoint or SERVERS.get(vendor.dialect, "")) + vendor.path


def reached_by(row: Row, call: Call) -> dict[str, str]:
    """Return the variables that tell the engine its key and its stand-in server."""
    vendor = vendor_of(row, call)
    told = {call.key.variable: call.key.value} if call.key else {}
    if vendor and vendor.url and call.endpoint:
        told[vendor.url] = server(vendor, call)
    return told


def plain_model(call: Call, vendor: Vendor) -> str:
    """Return the model without the word before the `/` that chose the vendor."""
    model = call.spec.model or ""
    for beginning in vendor.models:
        if beginning.endswith("/") and model.startswith(beginning):
            return model.removeprefix(beginning)
    return model
