"""Answers whether the bot can work."""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler

PATH = "/readyz"


def readiness(
    unready: Callable[[], str | None], troubles: Callable[[], Iterable[str]]
) -> Handler:
    """Return the handler that answers whether the bot can work.

    Args:
        unready: returns why the bot cannot work now; None: it can.
        troubles: returns what goes wrong while the bot works.
    """

    async def ready(_: web.Request) -> web.Response:
        why = unready()
        if why is None:
            found = list(troubles())
            return web.json_response(
                {"ok": True, **({"troubles": found} if found else {})}
            )
        return web.Response(
            body=json.dumps({"message": why}).encode(),
            status=HTTPStatus.SERVICE_UNAVAILABLE,
            content_type="application/json",
        )

    return ready
