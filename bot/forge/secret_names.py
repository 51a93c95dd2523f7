"""Lists a repository's Actions secrets: their names, never a value.

https://docs.github.com/rest/actions/secrets
"""

from http import HTTPStatus
from typing import Final

from bot.forge.payload import Payload
from bot.forge.rest import Refused, Rest
from grite.errors import BratError, Unavailable

RIGHT: Final = {"secrets": "read", "metadata": "read"}
"""The permissions for this; a bot without them works all the same."""
_LISTS: Final = ("secrets", "organization-secrets")


class _Secret(Payload):
    name: str


async def secret_names(rest: Rest, repository: str) -> frozenset[str] | None:
    """Return the secrets of a repository and those its organisation shares with it.

    None when we may not know: the right is missing, or the forge does not answer.
    """
    names: set[str] = set()
    for listed in _LISTS:
        url = f"/repos/{repository}/actions/{listed}?per_page=100"
        try:
            names |= {each.name async for each in rest.each(_Secret, url, "secrets")}
        except Refused as refused:
            is_nobodys = refused.status == HTTPStatus.NOT_FOUND  # no organisation
            if not (names and is_nobodys):
                return None
        except (Unavailable, BratError):
            return None
    return frozenset(names)
