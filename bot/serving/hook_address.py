"""Does the forge send the App's deliveries to this bot's door?

https://docs.github.com/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
"""

from collections.abc import AsyncIterator
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ConfigDict

from bot.door.webhooks import PATH
from bot.forge.rest import Rest
from bot.serving.found import Found
from bot.serving.hosting import Hosting

_EXAMPLES: Final = (
    *("example.com", "example.net", "example.org"),
    *("example", "invalid", "test"),
)
"""Nobody has these: https://www.rfc-editor.org/rfc/rfc2606"""
_WHERE: Final = "the App's settings, Webhook"


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    url: str | None = ""
    content_type: str = "form"
    insecure_ssl: str | float = "0"


async def examined(
    hosting: Hosting, app: Rest, client: httpx.AsyncClient
) -> AsyncIterator[Found]:
    """Give what is found of the webhook's address; one unsigned request is sent there.

    Args:
        hosting: the service's settings; without a secret it polls.
        app: asks as the App itself.
        client: reaches the address.

    Raises:
        BratError: the forge did not answer.
    """
    config = await app.read(_Config, "/app/hook/config")
    url = config.url or ""
    if not hosting.secret:
        if url:
            said = "the App has a webhook, and the settings have no secret for it"
            mend = f"set one in both, or empty the address in {_WHERE}; then it polls"
            yield Found("note", said, mend)
        return
    if not url:
        mend = f"set it in {_WHERE} to https://YOUR-HOST{PATH}, or serve with --poll"
        yield Found("fault", "the webhook has no address", mend)
        return
    if config.content_type != "json":
        mend = f"set the content type to application/json in {_WHERE}"
        yield Found("fault", "the webhook does not send JSON", mend)
    if str(config.insecure_ssl).startswith("1"):
        said = "the webhook goes to whoever claims to be the bot: TLS is not verified"
        yield Found("note", said, f"enable SSL verification in {_WHERE}")
    if why := nowhere(url, hosting.api_url):
        mend = f"set the bot's public address in {_WHERE}"
        yield Found("fault", f"the webhook's address {url} {why}", mend)
    else:
        yield await _reached(client, url)


def nowhere(url: str, api_url: str) -> str:
    """Return why a forge cannot send to an address; empty: it may."""
    try:
        host, forge = urlsplit(url).hostname or "", urlsplit(api_url).hostname or ""
    except ValueError:
        return "is none"
    if any(host == name or host.endswith(f".{name}") for name in _EXAMPLES):
        return "is an example"
    if _is_near(host) and not _is_near(forge):
        return "is inside a network that the forge cannot reach"
    return ""


def _is_near(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host == "localhost" or "." not in host


async def _reached(client: httpx.AsyncClient, url: str) -> Found:
    """Knock without a signature: the door turns that away, nothing else says so."""
    try:
        status = (await client.post(url, content=b"")).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = f"the webhook's address {url} cannot be reached from here: {error!r}"
        return Found("note", said, "see that the bot runs and its proxy leads there")
    if status == HTTPStatus.UNAUTHORIZED:
        return Found("ok", f"the bot's door is at {url}")
    if status == HTTPStatus.FORBIDDEN:
        said = f"the door at {url} does not let this machine in"
        return Found("note", said, "add the forge's networks to allowed_networks")
    said = f"what is at {url} answers {status}, and the bot's door 401"
    return Found("fault", said, f"lead it to the bot's port, to {PATH}")
