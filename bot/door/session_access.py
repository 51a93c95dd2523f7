"""How a session reaches the feed: its token, its job's identity, and the address.

The token is a digest of the session's name with a key in the bot's folder, so nothing
has to be stored. It is valid as long as the session runs. On this machine, the bot
notes its port in its folder; the process that starts the runner reads it there, and the
runner gets address and token through a descriptor.
"""

import hmac
import json
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

_KEY_BYTES: Final = 32


def feed_key(folder: Path) -> bytes:
    """Return the key in a bot's folder, creating it the first time."""
    return kept_key(folder / "feed.key")


def kept_key(file: Path) -> bytes:
    """Return the key in a file, which is made the first time, for its owner alone."""
    if not file.exists():
        beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        beside.touch(mode=0o600)
        beside.write_text(secrets.token_hex(_KEY_BYTES))
        try:
            os.link(beside, file)  # the first process wins
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return bytes.fromhex(file.read_text().strip())


def session_token(key: bytes, repository: str, session: str) -> str:
    """Return the token of a session, `<convoy>/<task>/<attempt>`."""
    said = f"feed/v1\n{repository.casefold()}\n{session}"
    return hmac.digest(key, said.encode(), "sha256").hex()


class JobOrigin(NamedTuple):
    repository: str
    repository_id: int
    workflow: str
    """The workflow file at a ref: `<owner>/<name>/<path>@<ref>`."""


def claims_of(origin: JobOrigin, run: int) -> Mapping[str, str]:
    return {
        "repository_id": str(origin.repository_id),
        "repository": origin.repository,
        "run_id": str(run),
        "run_attempt": "1",
        "event_name": "workflow_dispatch",
        "workflow_ref": origin.workflow,
        "job_workflow_ref": origin.workflow,
    }


FEED_PATH: Final = "/feed/v1"
_PORT_FILE: Final = "feed.json"


def note_port(folder: Path, port: int) -> None:
    """Note that the feed of the bot in this folder is on this port of this machine."""
    feed_key(folder)
    beside = folder / f".{_PORT_FILE}.{secrets.token_hex(4)}"
    beside.write_text(json.dumps({"port": port}))
    beside.rename(folder / _PORT_FILE)


def noted_port(folder: Path) -> int:
    try:
        port = json.loads((folder / _PORT_FILE).read_bytes())["port"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return port if isinstance(port, int) else 0


def free_port(folder: Path) -> int:
    """Return the port noted last if it is free now, else 0.

    Sessions that an earlier bot began still send to that port.
    """
    port = noted_port(folder)
    try:
        with socket.create_server(("127.0.0.1", port)):
            return port
    except (OSError, OverflowError):
        return 0


def session_handover(folder: Path, repository: str, session: str) -> bytes:
    """Return the feed's address and token for a session's runner; empty: no feed."""
    port = noted_port(folder)
    if not port or not session:
        return b""
    told = {
        "url": f"http://127.0.0.1:{port}{FEED_PATH}/{repository}/{session}",
        "token": session_token(feed_key(folder), repository, session),
    }
    return json.dumps(told).encode()
