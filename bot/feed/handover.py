"""Where the feed is, and the token for one session: what a starter here hands over.

The bot notes its address in its folder; whoever starts the runner on this machine reads
it there. The runner gets both through a descriptor.
"""

import json
import secrets
import socket
from pathlib import Path
from typing import Final

from bot.feed import tokens

PATH: Final = "/feed/v1"
_FILE: Final = "feed.json"


def note(folder: Path, port: int) -> None:
    """Say that the feed of the bot in this folder is on this port of this machine."""
    tokens.key_of(folder)
    beside = folder / f".{_FILE}.{secrets.token_hex(4)}"
    beside.write_text(json.dumps({"port": port}))
    beside.rename(folder / _FILE)


def noted(folder: Path) -> int:
    """Return the port that was noted last; 0: none was."""
    try:
        port = json.loads((folder / _FILE).read_bytes())["port"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return port if isinstance(port, int) else 0


def free_again(folder: Path) -> int:
    """Return the port that was noted last if nobody has it now, else 0.

    Sessions that an earlier bot began still send there.
    """
    port = noted(folder)
    try:
        with socket.create_server(("127.0.0.1", port)):
            return port
    except (OSError, OverflowError):
        return 0


def given(folder: Path, repository: str, session: str) -> bytes:
    """Return what the runner of a session is handed; empty: there is no feed."""
    port = noted(folder)
    if not port or not session:
        return b""
    told = {
        "url": f"http://127.0.0.1:{port}{PATH}/{repository}/{session}",
        "token": tokens.token_of(tokens.key_of(folder), repository, session),
    }
    return json.dumps(told).encode()
