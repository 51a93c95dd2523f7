"""GraphQL: the mutations that REST does not have, and nothing else.

One mutation a request, its input a variable or written out as strings:
`mutation { deleteIssue(input: {issueId: "..."}) { clientMutationId } }`

https://docs.github.com/graphql/reference/mutations
"""

import re
from typing import Any, Final

from aiohttp import web
from msgspec import DecodeError, Struct, json

from brat.forge.http_server import no_graphql
from brat.forge.resources.account_resource import Role
from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.request_gate import authenticate
from brat.forge.service.running_forge import Service
from brat.forge.storage.token_store import Caller
from brat.forge.wire.http_refusals import Refused
from brat.forge.wire.urls import node_id
from tests.world.github_forge.issue_removal import delete_issue, transfer_issue

_MUTATION: Final = re.compile(r"\b(\w+)\s*\(\s*input\s*:\s*(\{[^}]*\}|\$\w+)\s*\)")
_FIELD: Final = re.compile(r'(\w+)\s*:\s*(?:"([^"]*)"|\$(\w+))')


class _Query(Struct):
    query: str
    variables: dict[str, Any] = {}


class _Failed(Exception):
    """What GraphQL answers with status 200: a type and a sentence."""


class GraphQL:
    """The endpoint at /api/graphql."""

    def __init__(self, service: Service) -> None:
        """Serve the mutations on `service`."""
        self._service = service

    def routes(self) -> list[web.RouteDef]:
        """Return the route, below the forge's own address."""
        return [web.post("/api/graphql", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            caller = authenticate(self._service, request)
            asked = json.decode(await request.read(), type=_Query)
            found = _MUTATION.search(asked.query)
            if found is None or not asked.query.lstrip().startswith("mutation"):
                return await no_graphql(request)
            name, given = found[1], _given(found[2], asked.variables)
            shown = self._do(caller, name, given)
        except Refused as refused:
            return web.json_response(refused.body(), status=refused.status)
        except DecodeError:
            said = {"message": "Problems parsing JSON"}
            return web.json_response(said, status=400)
        except _Failed as failed:
            kind, said = failed.args
            errors = [{"type": kind, "message": said}]
            return web.json_response({"data": None, "errors": errors})
        return web.json_response({"data": {name: shown}})

    def _do(self, caller: Caller, name: str, given: dict[str, str]) -> dict[str, Any]:
        if name == "deleteIssue":
            issue = self._issue(caller, given, "admin")
            delete_issue(self._service, caller.user, issue)
            return {"repository": {"id": node_id("Repository", issue.repo)}}
        if name == "transferIssue":
            issue = self._issue(caller, given, "write")
            target = self._repository(given.get("repositoryId", ""))
            self._need(caller, target, "write")
            moved = transfer_issue(self._service, caller.user, issue, target)
            return {"issue": {"id": node_id("Issue", moved.id), "number": moved.number}}
        raise _Failed("undefinedField", f"Field '{name}' doesn't exist on 'Mutation'")

    def _issue(self, caller: Caller, given: dict[str, str], role: Role) -> Issue:
        shown = given.get("issueId", "")
        store = self._service.forge.store
        for issue in store.issues.all():
            if node_id("Issue", issue.id) == shown and not issue.pull:
                repo = store.repositories.get(issue.repo)
                assert repo is not None
                self._need(caller, repo, role)
                return issue
        raise _unknown(shown)

    def _repository(self, shown: str) -> Repository:
        for repo in self._service.forge.store.repositories.all():
            if node_id("Repository", repo.id) == shown:
                return repo
        raise _unknown(shown)

    def _need(self, caller: Caller, repo: Repository, role: Role) -> None:
        if not self._service.forge.may(repo, caller.user, role):
            who = caller.user.login
            said = f"{who} does not have the correct permissions to execute this."
            raise _Failed("FORBIDDEN", said)


def _given(written: str, variables: dict[str, Any]) -> dict[str, str]:
    """Return a mutation's input."""
    if written.startswith("$"):
        return dict(variables[written[1:]])
    return {
        field: text or str(variables.get(variable, ""))
        for field, text, variable in _FIELD.findall(written)
    }


def _unknown(shown: str) -> _Failed:
    said = f"Could not resolve to a node with the global id of '{shown}'."
    return _Failed("NOT_FOUND", said)
