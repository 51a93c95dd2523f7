"""When the text of an issue was last edited: only GraphQL tells it."""

from typing import Any

from brat.forge.resources.account_resource import Record, Repository, User
from brat.forge.service.running_forge import Service
from brat.forge.service.webhook_deliveries import Kind
from brat.forge.storage.record_store import Table


class TextEdit(Record, frozen=True, kw_only=True):
    """The last edit of a text; its id is the issue's."""

    at: str


class TextEdits:
    """The edits of a served forge."""

    def __init__(self, service: Service) -> None:
        """Remember from now on what is edited."""
        self._forge = service.forge
        self._table = Table(service.forge.store, TextEdit, lambda _: 0)
        service.events.heard_by.append(self._hear)

    def last(self, issue: int) -> str | None:
        """Return when the text of an issue was last edited; None: never."""
        found = self._table.get(issue)
        return found.at if found is not None else None

    def _hear(self, _: Repository, __: User, kind: Kind, body: dict[str, Any]) -> None:
        if kind == ("issues", "edited") and "body" in body["changes"]:
            edited = TextEdit(id=body["issue"]["id"], at=self._forge.now())
            self._table.put(edited)
