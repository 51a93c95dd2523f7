"""What a job of the forge is given to find the feed of a bot elsewhere."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from grite.shown import without


class Lead(Struct, frozen=True):
    """What a job has been given to find the feed."""

    bot: str
    """The address of the bot's door, without a slash at the end."""
    session: str
    """`<owner>/<name>/<convoy>/<task>/<attempt>`."""
    asks: str
    """Where the forge gives tokens to this job."""
    token: str
    """What lets it ask there: for a token that says it is this job, for anybody."""

    def __repr__(self) -> str:
        return without(self, "token")


def lead(env: Mapping[str, str], session: str) -> Lead | None:
    """Return what the job's environment says; None: it is to send nothing.

    What makes no sense there counts as nothing: nobody's session fails for it.
    """
    bot = env.get("BRAT_FEED_URL", "").strip().rstrip("/")
    asks = env.get("ACTIONS_ID_TOKEN_REQUEST_URL", "").strip()
    token = env.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable() and token):
        return None
    if not (_is_safe(bot) and _is_safe(asks)):
        return None
    name = f"{env.get('GITHUB_REPOSITORY', '').strip()}/{session}"
    return Lead(bot, name, asks, token)


def _is_safe(url: str) -> bool:
    """Whether nobody between here and an address can read what is said."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    is_near = parts.scheme == "http" and parts.hostname == "127.0.0.1"
    return has_port and bool(parts.hostname) and (parts.scheme == "https" or is_near)
