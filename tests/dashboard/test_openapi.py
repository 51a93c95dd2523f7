"""What the interface's description says is what the server answers, and no more."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import APIOperation

from bot.dashboard import application
from bot.dashboard.access_policy import TokenAccess
from bot.dashboard.application import dashboard_application
from bot.dashboard.dashboard_source import DashboardSource, LogHistory, RepositoryView
from convoy.log.record import Reading
from tests.dashboard.conftest import SHOWS, opens
from tests.dashboard.test_pages import house_of_all
from tests.world.rules import NAME

Operation = APIOperation[Any, Any, Any, Any]
STREAM: Final = f"{application.ROOT}/events"


def closed(part: Any) -> Any:  # noqa: ANN401  any JSON
    """Return the description with objects closed: what it leaves out is a fault."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    more = {"additionalProperties": False} if part.get("properties") else {}
    return {key: closed(value) for key, value in part.items()} | more


DESCRIPTION: Final = json.loads(application.DESCRIPTION.read_text())
SCHEMA: Final = schemathesis.openapi.from_dict(closed(DESCRIPTION))
OPERATIONS: Final[dict[tuple[str, str], Operation]] = {
    (operation.method.upper(), operation.path): operation
    for operation in (each.ok() for each in SCHEMA.get_all_operations())  # type: ignore[union-attr]  # it is valid
}


async def test_every_route_is_described_and_every_description_has_a_route() -> None:
    source = DashboardSource(
        repository="pat/project",
        read=Reading,
        log=tuple,
        history=LogHistory(Path(), Reading),
        clock=lambda: 0,
    )
    app = dashboard_application(TokenAccess(RepositoryView(source)))
    routes = {
        (route.method, re.sub(r":[^}]*(?:\{[^}]*\})?", "", route.resource.canonical))
        for route in app.router.routes()
        if route.method != "HEAD"
        and route.resource is not None
        and route.resource.canonical.startswith(application.ROOT)
    }

    assert routes == set(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda o: o.label)
async def test_what_is_there_is_answered_as_described(operation: Operation) -> None:
    if operation.path == STREAM:
        return
    where = {"convoy": NAME, "task": 5, "verb": "pause"}
    if "tasks/{task}/{verb}" in operation.path:
        where["verb"] = "retry"
    names = set(re.findall(r"{(\w+)}", operation.path))
    case = operation.Case(path_parameters={name: where[name] for name in names})
    async with opens(house_of_all()) as visit:
        answer = await asyncio.to_thread(
            case.call_and_validate, base_url=visit.url, headers=SHOWS
        )
    assert answer.status_code == 200


@pytest.mark.layer("deep")
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda o: o.label)
async def test_whatever_is_asked_is_answered_as_described(operation: Operation) -> None:
    if operation.path == STREAM or "{" not in operation.path:
        return
    async with opens(house_of_all()) as visit:

        @settings(max_examples=25, deadline=None, suppress_health_check=[*HealthCheck])
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(base_url=visit.url, headers=SHOWS)

        await asyncio.to_thread(ask)
