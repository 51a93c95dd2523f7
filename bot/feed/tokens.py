"""What a session shows to the feed: one token for one session of one repository.

It is the session's name under a key that only the bot's folder holds, so nothing has
to be remembered, and it counts for as long as the state says that the session runs.
"""

import hmac
import os
import secrets
from pathlib import Path
from typing import Final

_FILE: Final = "feed.key"
_BYTES: Final = 32


def key_of(folder: Path) -> bytes:
    """Return the key in a bot's folder, drawing it the first time."""
    file = folder / _FILE
    if not file.exists():
        beside = folder / f".{_FILE}.{secrets.token_hex(4)}"
        beside.touch(mode=0o600)
        beside.write_text(secrets.token_hex(_BYTES))
        try:
            os.link(beside, file)  # whoever was first is right
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
    """Whether what was shown is the session's token; takes as long either way."""
    wanted = token_of(key, repository, session).encode()
    return hmac.compare_digest(wanted, shown.encode(errors="replace"))
