"""What a service logs of an exception: where it happened, and no local variable."""

import asyncio
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from brat.terminal.console import LogForm
from brat.terminal.service_log import journal

TOKEN = "ghs_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    root.handlers.clear()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def _asks(token: str) -> None:
    try:
        int(f"Bearer {token}"[:6])
    except ValueError as error:
        raise RuntimeError("asking failed") from error


def _failing(log: logging.Logger) -> None:
    token = "".join(TOKEN)
    try:
        _asks(token)
    except RuntimeError:
        log.exception("%s: a fault of ours", "o/r")


@pytest.mark.parametrize("form", list(LogForm))
def test_a_token_in_a_local_variable_is_never_logged(
    form: LogForm, capsys: pytest.CaptureFixture[str]
) -> None:
    journal(form)
    _failing(logging.getLogger("bot.serving.host"))
    said = capsys.readouterr().err
    assert TOKEN not in said
    for expected in ("a fault of ours", "asking failed", "invalid literal", "_asks"):
        assert expected in said
    if form is LogForm.JSON:
        assert json.loads(said)["logger"] == "bot.serving.host"


@pytest.mark.parametrize("form", list(LogForm))
def test_nor_when_a_task_of_the_event_loop_fails_and_nobody_asks_for_its_result(
    form: LogForm, capsys: pytest.CaptureFixture[str]
) -> None:
    journal(form)

    async def asks() -> None:
        _asks("".join(TOKEN))

    async def main() -> None:
        task = asyncio.ensure_future(asks())
        await asyncio.wait([task])
        del task

    asyncio.run(main())
    said = capsys.readouterr().err
    assert TOKEN not in said
    assert "never retrieved" in said
    assert "asking failed" in said
