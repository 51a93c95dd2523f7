"""Artifacts that another starter of runs hands over by HTTP, and how it is told to."""

import hmac
import os
import re
import zipfile
from pathlib import Path
from typing import Final

from aiohttp import web

from brat.forge.resources.run_resource import Run
from brat.forge.rest.rest_call import secret_of
from brat.forge.service.run_processes import WorkflowFiles, measure
from brat.forge.service.running_forge import Service

MOST_BYTES: Final = 1 << 30
CHUNK: Final = 1 << 16
_NAME: Final = re.compile(r"(?!\.)[\w.-]{1,100}", re.ASCII)
_KEY: Final = "uploads.key"


def sound(path: Path) -> bool:
    """Say whether a file is a zip whose contents can be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError):
        return False


class Uploads(WorkflowFiles):
    """Lets the program that starts runs hand artifacts over."""

    def __init__(self, service: Service) -> None:
        """Take the artifacts of `service`."""
        super().__init__(service.forge)
        self._service = service

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, below the forge's own address."""
        return [web.put(r"/_artifacts/{run:\d+}/{name}", self.put)]

    def handover(self, run: Run) -> dict[str, str]:
        """Return the run's folder, the address and the run's own token for it."""
        return {
            "BRAT_RUN_DIR": str(self._service.starter.place(run).folder),
            "ACTIONS_RUNTIME_TOKEN": self._secret(run),
            "ACTIONS_RESULTS_URL": self._service.site.base + "/",
        }

    def _secret(self, run: Run) -> str:
        """Return the same for a run as long as the forge's folder is there."""
        key = self.forge.folder / _KEY
        if not key.exists():
            key.write_bytes(os.urandom(32))
        return hmac.digest(key.read_bytes(), str(run.id).encode(), "sha256").hex()

    async def put(self, request: web.Request) -> web.Response:
        """Take a zip from another starter, which shows the run's own token."""
        store = self._service.forge.store
        run = store.runs.get(int(request.match_info["run"]))
        shown = secret_of(request) or ""
        if run is None or not hmac.compare_digest(self._secret(run), shown):
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
