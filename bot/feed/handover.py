"""Hands the feed's address and a session's token to sessions on this machine.

The bot notes its port in its folder; the process that starts the runner reads it there.
The runner gets address and token through a descriptor.
"""

import json
import secrets
import socket
from pathlib import Path
from typing import Final

from bot.feed import session_tokens

PATH: Final = "/feed/v1"
_FILE: Final = "feed.json"


def note(folder: Path, port: int) -> None:
    """Note that the feed of the bot in this folder is on this port of this machine."""
    session_tokens.key_of(folder)
    beside = folder / f".{_FILE}.{secrets.token_hex(4)}"
    beside.write_text(json.dumps({"port": port}))
    beside.rename(folder / _FILE)


def noted(folder: Path) -> int:
    """Return the port noted last; 0: none was noted."""
    try:
        port = json.loads((folder / _FILE).read_bytes())["port"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return port if isinstance(port, int) else 0


def free_again(folder: Path) -> int:
    """Return the port noted last if it is free now, else 0.

    Sessions that an earlier bot began still send to that port.
    """
    port = noted(folder)
    try:
        with socket.create_server(("127.0.0.1", port)):
            return port
    except (OSError, OverflowError):
        return 0


def given(folder: Path, repository: str, session: str) -> bytes:
    """Return the feed's address and token for a session's runner; empty: no feed."""
    port = noted(folder)
    if not port or not session:
        return b""
    told = {
        "url": f"http://127.0.0.1:{port}{PATH}/{repository}/{session}",
        "token": session_tokens.token_of(
            session_tokens.key_of(folder), repository, session
        ),
    }
    return json.dumps(told).encode()
