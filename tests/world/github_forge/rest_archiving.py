"""REST: a repository is archived, so that nobody writes to it, and back.

https://docs.github.com/rest/repos/repos#update-a-repository
"""

from dataclasses import replace

from brat.forge.rest.rest_call import Answer, Body, Call, Route
from brat.forge.rest.rest_repositories import get_repository


class RepositoryChange(Body):
    """The body of `PATCH /repos/{owner}/{repo}`; more cannot be changed here."""

    archived: bool


async def change_repository(call: Call) -> Answer:
    """`PATCH /repos/{owner}/{repo}`."""
    asked = call.body(RepositoryChange)
    repo = call.service.forge.update(call.repo, archived=asked.archived)
    return await get_repository(replace(call, found=repo))


ROUTES = (Route("PATCH", "/repos/{owner}/{repo}", change_repository, "admin"),)
