"""Pull requests whose branch is in a fork: of everybody whose name is `mallory`.

https://docs.github.com/rest/pulls/pulls#get-a-pull-request (head.repo)
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from aiohttp import web
from msgspec import json

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.world.github_forge.extension import people

STRANGER: Final = "mallory"
_PULLS: Final = re.compile(r".*/repos/[^/]+/[^/]+/pulls(/[0-9]+)?")
_Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def _forked(request: web.Request, handler: _Next) -> web.StreamResponse:
    answer = await handler(request)
    if not (isinstance(answer, web.Response) and _PULLS.fullmatch(request.path)):
        return answer
    if isinstance(answer.body, bytes) and answer.status in (200, 201):
        said = json.decode(answer.body)
        for pull in said if isinstance(said, list) else [said]:
            _fork(pull)
        answer.body = json.encode(said)
    return answer


def _fork(pull: dict[str, Any]) -> None:
    author, head = pull["user"], pull["head"]
    if author["login"] != STRANGER:
        return
    name = head["repo"]["name"]
    full = {"full_name": f"{STRANGER}/{name}", "fork": True, "owner": author}
    head |= {"label": f"{STRANGER}:{head['ref']}", "user": author}
    head["repo"] |= full


def forks(service: Service) -> Extension:
    """Let people do what they can do on GitHub, and a stranger have a fork."""
    return replace(people(service), middlewares=(_forked,))
