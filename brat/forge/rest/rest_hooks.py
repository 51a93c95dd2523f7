"""REST: where a repository's webhook delivers to.

https://docs.github.com/en/rest/repos/webhooks
"""

from typing import Any

from msgspec.structs import replace

from brat.forge.resources.hook_resource import Hook
from brat.forge.rest.request_bodies import Body
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.wire.http_refusals import fault, not_found


class HookConfig(Body):
    """Where deliveries go; what is left out stays."""

    url: str | None = None
    secret: str | None = None
    content_type: str = "json"
    insecure_ssl: str | int = "0"


def shown_config(hook: Hook) -> dict[str, Any]:
    """Return where a hook's deliveries go; the secret is never shown."""
    shape = {"url": hook.url, "content_type": "json", "insecure_ssl": "0"}
    return shape | ({"secret": "********"} if hook.secret else {})


def asked_hook(call: Call) -> Hook:
    """Return the hook that the path names.

    Raises:
        Refused: 404: the repository has no such hook.
    """
    hook = found(call.store.hooks.get(call.number("hook")))
    if hook.repo != call.repo.id:
        raise not_found()
    return hook


def checked(config: HookConfig) -> HookConfig:
    """Return a configuration that this forge can follow.

    Raises:
        Refused: 422: the forge cannot follow the configuration.
    """
    if config.url is not None and not config.url.startswith(("http://", "https://")):
        raise fault("Hook", "url", "invalid", "It must begin with http:// or https://.")
    if config.content_type != "json":
        raise fault("Hook", "content_type", "invalid", "This forge sends JSON only.")
    return config


def configured(call: Call, hook: Hook, config: HookConfig) -> Hook:
    """Return the hook with another configuration.

    Raises:
        Refused: 422: this forge cannot follow it.
    """
    config = checked(config)
    return replace(
        hook,
        url=config.url or hook.url,
        secret=hook.secret if config.secret is None else config.secret,
        updated_at=call.service.forge.now(),
    )


async def change_config(call: Call) -> Answer:
    """`PATCH hooks/{id}/config`."""
    hook = configured(call, asked_hook(call), call.body(HookConfig))
    with call.store.change():
        call.store.hooks.put(hook)
    return Answer(shown_config(hook))


CONFIG = r"/repos/{owner}/{repo}/hooks/{hook:\d+}/config"
ROUTES = (Route("PATCH", CONFIG, change_config, "admin"),)
