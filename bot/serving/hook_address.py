"""Checks that the forge sends the App's deliveries to this bot's door.

https://docs.github.com/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
"""

from collections.abc import AsyncIterator
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import httpx

from bot.door.webhooks import WEBHOOK_PATH
from bot.forge.payloads import Payload
from bot.forge.rest import Rest
from bot.serving.examination_finding import Finding
from bot.settings.bot_settings import ServiceSettings

_EXAMPLES: Final = (
    *("example.com", "example.net", "example.org"),
    *("example", "invalid", "test"),
)
"""Reserved names that nobody owns: https://www.rfc-editor.org/rfc/rfc2606"""
_WHERE: Final = "the App's settings, Webhook"


class _Config(Payload):
    url: str | None = ""
    content_type: str = "form"
    insecure_ssl: str | float = "0"


async def examined(
    hosting: ServiceSettings, app: Rest, client: httpx.AsyncClient
) -> AsyncIterator[Finding]:
    """Give the findings about the webhook's address; sends one unsigned request there.

    Args:
        hosting: the service's settings; a service without a secret polls.
        app: a client that asks as the App itself.
        client: sends the request to the address.

    Raises:
        BratError: the forge did not answer.
    """
    config = await app.read(_Config, "/app/hook/config")
    url = config.url or ""
    if not hosting.secret:
        if url:
            said = "the App has a webhook, and the settings have no secret for it"
            mend = f"set one in both, or empty the address in {_WHERE}; then it polls"
            yield Finding("note", said, mend)
        return
    if not url:
        address = f"https://YOUR-HOST{WEBHOOK_PATH}"
        mend = f"set it in {_WHERE} to {address}, or serve with --poll"
        yield Finding("fault", "the webhook has no address", mend)
        return
    if config.content_type != "json":
        mend = f"set the content type to application/json in {_WHERE}"
        yield Finding("fault", "the webhook does not send JSON", mend)
    if str(config.insecure_ssl).startswith("1"):
        said = "the webhook goes to whoever claims to be the bot: TLS is not verified"
        yield Finding("note", said, f"enable SSL verification in {_WHERE}")
    if why := nowhere(url, hosting.api_url):
        mend = f"set the bot's public address in {_WHERE}"
        yield Finding("fault", f"the webhook's address {url} {why}", mend)
    else:
        yield await _reached(client, url)


def nowhere(url: str, api_url: str) -> str:
    """Return why a forge cannot send to an address; empty: it perhaps can."""
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


async def _reached(client: httpx.AsyncClient, url: str) -> Finding:
    """Send an unsigned request: only the bot's door answers it with 401."""
    try:
        status = (await client.post(url, content=b"")).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = f"the webhook's address {url} cannot be reached from here: {error!r}"
        return Finding("note", said, "see that the bot runs and its proxy leads there")
    if status == HTTPStatus.UNAUTHORIZED:
        return Finding("ok", f"the bot's door is at {url}")
    if status == HTTPStatus.FORBIDDEN:
        said = f"the door at {url} does not let this machine in"
        return Finding("note", said, "add the forge's networks to allowed_networks")
    said = f"what is at {url} answers {status}, and the bot's door 401"
    return Finding("fault", said, f"lead it to the bot's port, to {WEBHOOK_PATH}")
