"""Answers requests that fail: with a page, with JSON, or with one sentence."""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.dashboard import api, page_contents, token_access

_KEPT: Final = ("Allow", "Retry-After")


def told(request: web.Request, error: web.HTTPException) -> web.Response:
    """Return an error in the form the client expects: JSON, a page, or plain text."""
    said = (error.text or error.reason).strip()
    kept = {
        name: error.headers[name]
        for name in ("Allow", "Retry-After")
        if name in error.headers
    }
    headers = token_access.HEADERS | kept
    if api.ROOT in request.path:
        told = {"error": said}
        return web.json_response(told, status=error.status, headers=headers)
    if "text/html" in request.headers.get("Accept", ""):
        text = page_contents.fault(error.status, HTTPStatus(error.status).phrase, said)
        return web.Response(
            text=text, content_type="text/html", status=error.status, headers=headers
        )
    return web.Response(text=f"{said}\n", status=error.status, headers=headers)
