"""GraphQL: a part of GitHub's schema, executed for whoever asks.

https://docs.github.com/graphql/reference/mutations
https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from graphql import (
    GraphQLError,
    GraphQLResolveInfo,
    build_schema,
    graphql,
)
from msgspec import Struct, json

from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import authenticate, found
from brat.forge.service.running_forge import Service
from brat.forge.storage.record_store import Store
from tests.world.github_forge import graphql_nodes
from tests.world.github_forge.graphql_nodes import (
    Node,
    TextEdits,
    Viewer,
    number_of,
)
from tests.world.github_forge.issue_removal import delete_issue, transfer_issue
from tests.world.github_forge.merge_queues import MergeQueues
from tests.world.github_forge.review_comments import comments_of
from tests.world.github_forge.shapes import said_in

Asked = dict[str, Any]


@dataclass(frozen=True)
class Root:
    _viewer: Viewer

    @property
    def _store(self) -> Store:
        return self._viewer.service.forge.store

    # --- queries ------------------------------------------------------------------

    def repository(self, owner: str, name: str) -> Node:
        found = self._viewer.repository(f"{owner}/{name}")
        return graphql_nodes.repository(self._viewer, found)

    def node(self, node: str) -> Node:
        """Return the comment or review that has a global id."""
        viewer, store = self._viewer, self._store
        try:
            number, kind = viewer.node(store.comments, node)[1].id, "IssueComment"
        except Refused:
            reviews = said_in(store).reviews
            number, kind = viewer.node(reviews, node)[1].id, "PullRequestReview"
        return graphql_nodes.text(viewer, number, kind, node)

    # --- mutations ----------------------------------------------------------------

    def delete_issue(self, asked: Asked) -> Asked:
        viewer = self._viewer
        gone = viewer.node(self._store.issues, asked["issueId"])
        viewer.need(gone[0], "admin", "issues", "administration")
        delete_issue(viewer.service, viewer.caller.user, gone)
        return _DONE

    def transfer_issue(self, asked: Asked) -> Asked:
        """Move an issue to another repository."""
        viewer = self._viewer
        gone = viewer.node(self._store.issues, asked["issueId"])
        named = self._store.repositories.get(number_of(asked["repositoryId"]))
        target = viewer.repository(found(named).full_name)
        for each in (gone[0], target):
            viewer.need(each, "write", "issues")
        transfer_issue(viewer.service, viewer.caller.user, gone, target)
        return _DONE

    async def enqueue_pull_request(self, asked: Asked) -> Asked:
        """Put a pull request into the queue of its base."""
        viewer = self._viewer
        repo, pull = viewer.node(self._store.pulls, asked["pullRequestId"])
        viewer.need(repo, "write", "contents", "pull_requests")
        head = asked.get("expectedHeadOid")
        await viewer.queues.enqueue(repo, pull, viewer.caller.user, head)
        return _DONE

    async def dequeue_pull_request(self, asked: Asked) -> Asked:
        viewer = self._viewer
        repo, pull = viewer.node(self._store.pulls, asked["id"])
        viewer.need(repo, "write", "contents", "pull_requests")
        entry = viewer.queues.entry(pull)
        if entry is None:
            raise Refused(422, "Pull request is not in the queue")
        await viewer.queues.dequeue(repo, entry, viewer.caller.user)
        return _DONE

    def convert_pull_request_to_draft(self, asked: Asked) -> Asked:
        return self._turned(asked, "converted_to_draft")

    def mark_pull_request_ready_for_review(self, asked: Asked) -> Asked:
        return self._turned(asked, "ready_for_review")

    def _turned(self, asked: Asked, action: str) -> Asked:
        viewer = self._viewer
        service, user = viewer.service, viewer.caller.user
        repo, pull = viewer.node(self._store.pulls, asked["pullRequestId"])
        viewer.need(repo, "write", "pull_requests")
        drafted = self._store.pulls.change(pull, draft=action == "converted_to_draft")
        with self._store.change():
            service.events.tell(repo, user, action, drafted)
        return _DONE

    def resolve_review_thread(self, asked: Asked) -> Asked:
        """Resolve a thread; safe to call twice."""
        viewer, known = self._viewer, comments_of(self._store)
        repo, said = viewer.node(known, asked["threadId"])
        viewer.need(repo, "write", "pull_requests", "contents")
        known.change(said, is_resolved=True)
        return _DONE


_DONE: Final[Asked] = {"client_mutation_id": None}
SDL: Final = Path(__file__).with_name("schema.graphql")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS: Final = {"input": "asked", "id": "node"}
"""Arguments whose name in Python would be that of a built-in function."""


class _Query(Struct):
    query: str
    variables: dict[str, Any] | None = None


class GraphQL:
    """The endpoint beside REST's."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._edits, self._queues = TextEdits(service), MergeQueues(service)
        self._schema = build_schema(SDL.read_text())

    def routes(self) -> list[web.RouteDef]:
        """Return the route, below the forge's own address."""
        return [web.post("/api/graphql", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            caller = authenticate(self._service, request)
            asked = json.decode(await request.read(), type=_Query)
        except Refused as refused:
            return web.json_response(refused.body(), status=refused.status)
        viewer = Viewer(self._service, caller, self._edits, self._queues)
        done = await graphql(
            self._schema,
            asked.query,
            root_value=Root(viewer),
            variable_values=asked.variables,
            field_resolver=_resolve,
            type_resolver=lambda found, *_: found["kind"],
        )
        shown: dict[str, Any] = {"data": done.data}
        if done.errors:
            shown["errors"] = [_fault(error) for error in done.errors]
        return web.json_response(shown)


def _named(word: str) -> str:
    """Return Python's name for an argument."""
    return _WORDS.get(word, _HUMP.sub("_", word).lower())


def _resolve(source: object, info: GraphQLResolveInfo[None], **given: object) -> object:
    name = _HUMP.sub("_", info.field_name).lower()
    found = source.get(name) if isinstance(source, Mapping) else getattr(source, name)
    asked = {_named(word): value for word, value in given.items()}
    return found(**asked) if callable(found) else found


_KINDS: Final = {403: "FORBIDDEN", 404: "NOT_FOUND"}


def _fault(error: GraphQLError) -> dict[str, Any]:
    shown: dict[str, Any] = dict(error.formatted)
    if isinstance(error.original_error, Refused):
        kind = _KINDS.get(error.original_error.status, "UNPROCESSABLE")
        return {"type": kind, **shown}
    return shown
