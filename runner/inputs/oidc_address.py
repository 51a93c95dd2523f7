"""The feed of a bot on another machine, as a job's environment describes it."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from grite.errors import repr_without


class OidcAddress(Struct, frozen=True):
    """The feed's address, and how to ask the forge for a token."""

    bot: str
    """The address of the bot's door, without a slash at the end."""
    session: str
    """`<owner>/<name>/<convoy>/<task>/<attempt>`."""
    asks: str
    """Where the forge gives tokens to this job."""
    token: str
    """The token for that request; whoever has it can identify itself as this job."""

    def __repr__(self) -> str:
        return repr_without(self, "token")


def lead(env: Mapping[str, str], session: str) -> OidcAddress | None:
    """Return the feed that the job's environment names; None: there is no feed.

    Invalid values count as no feed, so that no session fails because of them.
    """
    bot = env.get("BRAT_FEED_URL", "").strip().rstrip("/")
    asks = env.get("ACTIONS_ID_TOKEN_REQUEST_URL", "").strip()
    token = env.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable() and token):
        return None
    if not (_is_safe(bot) and _is_safe(asks)):
        return None
    name = f"{env.get('GITHUB_REPOSITORY', '').strip()}/{session}"
    return OidcAddress(bot, name, asks, token)


def _is_safe(url: str) -> bool:
    """Whether nobody on the way to an address can read the requests."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    is_near = parts.scheme == "http" and parts.hostname == "127.0.0.1"
    return has_port and bool(parts.hostname) and (parts.scheme == "https" or is_near)
