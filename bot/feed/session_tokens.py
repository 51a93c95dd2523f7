"""Makes and checks the token that lets one session use the feed.

The token is a digest of the session's name with a key in the bot's folder, so nothing
has to be stored. It is valid as long as the session runs.
"""

import hmac
import os
import secrets
from pathlib import Path
from typing import Final

_FILE: Final = "feed.key"
_BYTES: Final = 32


def key_of(folder: Path) -> bytes:
    """Return the key in a bot's folder, creating it the first time."""
    file = folder / _FILE
    if not file.exists():
        beside = folder / f".{_FILE}.{secrets.token_hex(4)}"
        beside.touch(mode=0o600)
        beside.write_text(secrets.token_hex(_BYTES))
        try:
            os.link(beside, file)  # the first process wins
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return bytes.fromhex(file.read_text().strip())


def token_of(key: bytes, repository: str, session: str) -> str:
    """Return the token of a session, `<convoy>/<task>/<attempt>`."""
    said = f"feed/v1\n{repository.casefold()}\n{session}"
    return hmac.digest(key, said.encode(), "sha256").hex()


def fits(key: bytes, repository: str, session: str, shown: str) -> bool:
    """Whether the shown text is the session's token; compares in constant time."""
    wanted = token_of(key, repository, session).encode()
    return hmac.compare_digest(wanted, shown.encode(errors="replace"))
