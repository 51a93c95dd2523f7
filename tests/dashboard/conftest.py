"""A dashboard over rules in memory, served for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bot.dashboard.application import serving
from bot.dashboard.dashboard_source import DashboardSource, LogHistory, Session
from bot.requests.verb import Asker, Request
from bot.text.replies import Reply
from convoy.log.record import Reading
from convoy.rules.people import BlockTask
from convoy.views.history import LogLine
from grite.errors import BratError
from tests.world.patience import patient
from tests.world.requests import carried_out
from tests.world.rules import NAME, Rules, spec

TOKEN = "0123456789abcdef"
SHOWS = {"Authorization": f"Bearer {TOKEN}"}


def blocked() -> Rules:
    rules = Rules().planned(spec(1), spec(2), spec(3)).started(2)
    return rules.do(BlockTask(convoy=NAME, task=1, why="no CI"))


@dataclass
class Visit:
    """Somebody's browser, as far as HTTP goes, and the rules behind the pages."""

    http: httpx.AsyncClient
    rules: Rules

    @property
    def url(self) -> str:
        return str(self.http.base_url).rstrip("/")

    def address(self, path: str = "/") -> str:
        """Return the address of a page with the token, as a browser opens it first."""
        return f"{self.url}{path}{'&' if '?' in path else '?'}token={TOKEN}"

    async def text(self, path: str) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text


def prints(session: Session) -> str:
    return f"run {session.run} says <b>hi</b>"


@asynccontextmanager
async def opens(
    rules: Rules,
    *,
    knows: bool = True,
    writes: bool = True,
    trouble: BratError | None = None,
    faults: tuple[str, ...] = (),
    **more: Any,  # noqa: ANN401  what else the source of a dashboard takes
) -> AsyncIterator[Visit]:
    async def carry_out(asker: Asker, request: Request) -> Reply:
        if trouble:
            raise trouble
        return await carried_out(rules, asker, request)

    source = DashboardSource(
        repository="pat/project",
        read=lambda: Reading(rules.state, faults),
        log=lambda: _lines(rules),
        clock=lambda: rules.now,
        carry_out=carry_out if writes else None,
        token=TOKEN,
        **{"output": prints, "history": LogHistory(Path(), Reading), **more},
    )
    async with (
        serving(source, port=0) as url,
        httpx.AsyncClient(
            base_url=url,
            headers=SHOWS if knows else None,
            trust_env=False,
            timeout=patient(20),
        ) as http,
    ):
        yield Visit(http, rules)


def _lines(rules: Rules) -> tuple[LogLine, ...]:
    return tuple(
        LogLine(1000 * at, "ab" * 16, NAME, str(type(fact).__name__))
        for at, fact in enumerate(rules.facts)
    )
