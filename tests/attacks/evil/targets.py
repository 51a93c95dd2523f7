"""What the agent goes for outside its box, and the list of its attempts.

The agent knows the design, so nothing is hidden from it: it is told where all that it
must not reach lies.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeVar


@dataclass(frozen=True)
class Targets:
    """Where everything lies that no agent may have."""

    marker: str
    """A file that only a program outside the box can write: it names who did."""
    secret: str
    """What stands in every file that must not be read, in hex, as nothing hides it."""
    home: str
    """The home of who runs the job."""
    programs: tuple[str, ...]
    """Folders of the PATH that this user may write to."""
    commands: tuple[str, ...]
    """Files by which a step controls the steps after it."""
    later: tuple[str, ...]
    """Files that a later step of the job runs or reads."""
    credentials: tuple[str, ...]
    """The runner's own registration, as it lies beside the work folder."""
    logins: tuple[str, ...]
    """Logins that programs of the machine keep in its own folders."""
    temp: str
    workspace: str
    result: str
    cache: str
    """A folder that the machine keeps from job to job."""
    shared: str
    """A folder below /tmp that everybody may write to."""
    memory: str
    """A file in /dev/shm."""
    key: int
    """Of a piece of System V's shared memory."""
    system: tuple[str, ...]
    """Folders of the machine that every user's programs come from."""
    code: str
    """A file of the runner's own code."""
    socket: str
    """A daemon's socket below /run."""
    abstract: str
    """A daemon's abstract Unix socket."""
    doors: dict[str, int]
    """Ports of loopback, by what listens there."""
    udp: int
    """A port of loopback at which datagrams are counted."""
    victim: int
    """A process of the same user."""

    def holds(self, text: bytes) -> bool:
        """Tell whether a text has the secret, or the pair by which git shows it."""
        secret = bytes.fromhex(self.secret)
        return secret in text or b64encode(b"x-access-token:" + secret) in text

    def text(self) -> str:
        return json.dumps(asdict(self))


def read(file: Path) -> Targets:
    return Targets(**json.loads(file.read_text()))


T = TypeVar("T")
Attempt = Callable[[Targets], str]
ATTEMPTS: Final[dict[str, Attempt]] = {}
"""Each returns what it won, or nothing."""
OWN: Final = token_hex(4)
"""In the names of what this run leaves, so that no other run of it is in its way."""


def attempt(function: Attempt) -> Attempt:
    ATTEMPTS[function.__name__.replace("_", " ")] = function
    return function


def first_won(trying: Callable[[T], str], each_of: Iterable[T]) -> str:
    """Return what the first one wins that wins anything.

    Raises `OSError`: none won, and this is what stopped the last one.
    """
    stopped: OSError | None = None
    for one in each_of:
        try:
            if won := trying(one):
                return won
        except OSError as error:
            stopped = error
    if stopped is not None:
        raise stopped
    return ""
