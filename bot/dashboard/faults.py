"""What somebody gets who cannot have what they asked for: a page, or one sentence."""

from http import HTTPStatus

from aiohttp import web

from bot.dashboard import access, api, pages


def told(request: web.Request, error: web.HTTPException) -> web.Response:
    """Return an error as whoever asked reads it best: JSON, a page, or plain text."""
    said = (error.text or error.reason).strip()
    kept = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
    headers = access.HEADERS | kept
    if api.ROOT in request.path:
        told = {"error": said}
        return web.json_response(told, status=error.status, headers=headers)
    if "text/html" in request.headers.get("Accept", ""):
        text = pages.fault(error.status, HTTPStatus(error.status).phrase, said)
        return web.Response(
            text=text, content_type="text/html", status=error.status, headers=headers
        )
    return web.Response(text=f"{said}\n", status=error.status, headers=headers)
