"""`python -I -m benchmarks.task_cost_forge --dir DIR`: the forge, which counts.

It writes a line for each request to a file beside its folder.
"""

import sys
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from brat.forge.__main__ import main
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service

REQUESTS = "requests"


def extension(service: Service) -> Extension:
    """Return the counting of requests: method, path, and length of what is sent."""
    file = Path(service.forge.folder).parent / REQUESTS

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        with file.open("a", encoding="utf-8") as lines:
            length = request.content_length or 0
            lines.write(f"{request.method} {request.path} {length}\n")
        return await handler(request)

    return Extension(middlewares=(note,))


if __name__ == "__main__":
    sys.exit(main(extension))
