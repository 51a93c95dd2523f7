"""REST: artifacts. The bytes are behind an address of their own, without a token.

GitHub answers with a redirect to another host, to an address that is good for a minute;
so does the forge, and a client that sends its token along is found out.
"""

import hmac
import os
import re
import secrets
from typing import TYPE_CHECKING, Final

from aiohttp import hdrs, web
from yarl import URL

from brat.forge.resources import run_resource as views
from brat.forge.resources.run_resource import Artifact, Run
from brat.forge.rest.request_gate import secret_of
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.service.artifact_files import measure, sound
from brat.forge.storage.token_store import digest
from brat.forge.wire.http_refusals import not_found
from grite.outbound import is_local

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service

MOST_BYTES: Final = 1 << 30
CHUNK: Final = 1 << 16
_NAME: Final = re.compile(r"(?!\.)[\w.-]{1,100}", re.ASCII)
_KEY: Final = secrets.token_bytes(32)
"""Signs the addresses of this process."""


def _ticket(artifact: Artifact) -> str:
    text = f"{artifact.id} {artifact.digest}".encode()
    return hmac.digest(_KEY, text, "sha256").hex()


async def list_artifacts(call: Call) -> Answer:
    """`GET actions/runs/{id}/artifacts`: newest first."""
    run = found(call.store.runs.get(call.number("run")))
    if run.repo != call.repo.id:
        raise not_found()
    name = call.asked("name")
    known = [a for a in call.store.artifacts.of(run.id) if name in {"", a.name}]
    known.sort(key=lambda one: one.id, reverse=call.falling("desc"))
    return call.page(
        known,
        lambda one: views.artifact(call.site, call.repo, one, run),
        wrap="artifacts",
    )


def _artifact(call: Call) -> tuple[Artifact, Run]:
    artifact = found(call.store.artifacts.get(call.number("artifact")))
    if artifact.repo != call.repo.id:
        raise not_found()
    return artifact, found(call.store.runs.get(artifact.run))


async def get_artifact(call: Call) -> Answer:
    """`GET actions/artifacts/{id}`."""
    artifact, run = _artifact(call)
    return Answer(views.artifact(call.site, call.repo, artifact, run))


async def download(call: Call) -> Answer:
    """`GET actions/artifacts/{id}/zip`: redirects to the address of the bytes."""
    artifact, _ = _artifact(call)
    where = f"/_artifacts/{artifact.id}.zip?sig={_ticket(artifact)}"
    return Answer(status=302, headers={hdrs.LOCATION: _elsewhere(call) + where})


def _elsewhere(call: Call) -> str:
    """Return the forge's address under another host's name than was asked for.

    Clients take their token along when the host stays the same.
    """
    base = URL(call.site.base)
    if not is_local(base.host or ""):
        return str(base.with_host(f"storage.{base.host}"))
    asked = call.request.url.host
    return str(base.with_host("localhost" if asked != "localhost" else base.host or ""))


class Storage:
    """The addresses that hold artifacts' bytes, outside of the REST API."""

    def __init__(self, service: "Service") -> None:
        """Keep the artifacts of `service`."""
        self._service = service

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, below the forge's own address."""
        return [
            web.get(r"/_artifacts/{artifact:\d+}.zip", self.get),
            web.put(r"/_artifacts/{run:\d+}/{name}", self.put),
        ]

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Send a zip to whoever has its signed address and no token."""
        store = self._service.forge.store
        artifact = store.artifacts.get(int(request.match_info["artifact"]))
        if artifact is None or not hmac.compare_digest(
            _ticket(artifact), request.query.get("sig", "")
        ):
            raise web.HTTPForbidden(text="This address is not signed, or is old.\n")
        if hdrs.AUTHORIZATION in request.headers:
            raise web.HTTPBadRequest(text="Send no token to a signed address.\n")
        run = found(store.runs.get(artifact.run))
        path = self._service.starter.place(run).artifact(artifact.name)
        return web.FileResponse(path, headers={hdrs.CONTENT_TYPE: "application/zip"})

    async def put(self, request: web.Request) -> web.Response:
        """Take a zip from another starter, which shows the run's own token."""
        store = self._service.forge.store
        run = store.runs.get(int(request.match_info["run"]))
        shown = digest(secret_of(request) or "")
        if run is None or not hmac.compare_digest(run.artifact_digest or "", shown):
            raise web.HTTPUnauthorized(text="This is not the token of the run.\n")
        name = request.match_info["name"]
        if not _NAME.fullmatch(name) or run.status == "completed":
            raise web.HTTPUnprocessableEntity(
                text="The name is not one, or the run is over.\n"
            )
        target = self._service.starter.place(run).artifact(name)
        making = target.with_name(f"{target.name}.{os.urandom(8).hex()}")
        try:
            with making.open("wb") as file:
                async for chunk in request.content.iter_chunked(CHUNK):
                    if file.tell() + len(chunk) > MOST_BYTES:
                        raise web.HTTPRequestEntityTooLarge(MOST_BYTES, file.tell())
                    file.write(chunk)
            if not sound(making):
                raise web.HTTPUnprocessableEntity(text="The body is no sound zip.\n")
            making.replace(target)
        finally:
            making.unlink(missing_ok=True)
        self._service.starter.add_artifact(run, name, measure(target))
        return web.Response(status=201)


_ACTIONS = "/repos/{owner}/{repo}/actions"
ROUTES = (
    Route("GET", _ACTIONS + r"/runs/{run:\d+}/artifacts", list_artifacts),
    Route("GET", _ACTIONS + r"/artifacts/{artifact:\d+}", get_artifact),
    Route("GET", _ACTIONS + r"/artifacts/{artifact:\d+}/zip", download),
)
