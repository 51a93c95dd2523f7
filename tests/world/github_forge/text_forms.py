"""What GitHub answers in beside JSON, and the versions and forms that it refuses."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Final

from aiohttp import hdrs

from brat.forge.resources.wire import Refused
from brat.forge.rest import rest_pulls
from brat.forge.rest.rest_call import Answer, Call, Route, pull_of
from grite import git
from tests.world.github_forge.asked_route import asked_route

FORMS: Final = ("diff", "patch")
SERVED_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "GET /pulls/{number}": FORMS,
    "GET /compare/{basehead}": FORMS,
    "GET /commits/{ref}": (*FORMS, "sha"),
    "GET /contents/{path}": ("raw",),
}
VERSION: Final = "2022-11-28"
_ASKED: Final = "X-GitHub-Api-Version"
_SERVED: Final = re.compile(
    r"\*/\*|application/(\*|json|vnd\.github(\.v3)?(\.[a-z-]+-preview)?(\+json)?)"
)
"""Plain JSON, which every endpoint has; GitHub has rendered text besides."""
_FORM: Final = re.compile(r"application/vnd\.github(?:\.v3)?\.([a-z]+)(?:\+json)?")
JSON: Final = "json"
SERVED_HEADERS: Final = {
    "X-GitHub-Api-Version-Selected": VERSION,
    "X-GitHub-Media-Type": "github.v3; format=json",
}


def negotiated(call: Call) -> dict[str, str]:
    """Refuse a version or form that is not served; a guard."""
    form_of(call)
    return SERVED_HEADERS


def form_of(call: Call) -> str:
    """Return the form that a call asks for: `json`, or another that its route has."""
    more = SERVED_BESIDE.get(asked_route(call), ())
    return _negotiate(call.request.headers, more)


def _negotiate(headers: Mapping[str, str], more: Sequence[str]) -> str:
    version = headers.get(_ASKED, VERSION)
    if version != VERSION:
        raise Refused(
            400,
            'The version you specified in the "X-GitHub-API-Version" request header, '
            f'"{version}", is not a supported version. The following versions are '
            f'currently supported: "{VERSION}" (most recent).',
        )
    accepted = headers.get(hdrs.ACCEPT, "*/*")
    for form in (one.partition(";")[0].strip() for one in accepted.split(",")):
        if _SERVED.fullmatch(form):
            return JSON
        asked = _FORM.fullmatch(form)
        if asked and asked[1] in more:
            return asked[1]
    said = f"Unsupported 'Accept' header: '{accepted}'. Must accept "
    raise Refused(415, said + "'application/json'.")


async def change_text(call: Call, base: str | None, head: str) -> Answer:
    """Answer in the form that was asked for, one of FORMS.

    Args:
        call: who asks, and for which form.
        base: an ancestor of `head` that it is compared with; None: what `head` alone
            changed.
        head: the last commit.
    """
    if base is None:
        words = {
            "diff": ["show", "--first-parent", "--find-renames", "--format=", head],
            "patch": ["format-patch", "--stdout", "-1", head],
        }
    else:
        words = {
            "diff": ["diff", "--find-renames", base, head],
            "patch": ["format-patch", "--stdout", f"{base}..{head}"],
        }
    said = await asyncio.to_thread(git.run, words[form_of(call)], cwd=call.bare.path)
    return Answer(said.stdout)


async def get_pull(call: Call) -> Answer:
    """`GET pulls/{number}`: also as a diff or as patches."""
    if form_of(call) == JSON:
        return await rest_pulls.get_pull(call)
    pull = pull_of(call)
    fork = call.bare.fork_point(pull.base_sha, pull.head_sha)
    return await change_text(call, fork or pull.base_sha, pull.head_sha)


ROUTES = (Route("GET", r"/repos/{owner}/{repo}/pulls/{number:\d+}", get_pull),)
