"""What a service logs of an exception: where it happened, and no local variable."""

import asyncio
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from brat.terminal.service_log import journal
from tests.world.patience import TRIES, growth

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


@pytest.mark.parametrize("as_json", [False, True])
def test_a_token_in_a_local_variable_or_a_message_is_never_logged(
    *, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    tell = journal(as_json=as_json)
    token = "".join(TOKEN)
    try:
        _asks(token)
    except RuntimeError:
        log = logging.getLogger("bot.serving.host")
        log.exception("%s: a bug in brat", "o/r")
    said = capsys.readouterr().err
    assert TOKEN not in said
    for expected in ("a bug in brat", "asking failed", "invalid literal", "_asks"):
        assert expected in said
    if as_json:
        assert json.loads(said)["logger"] == "bot.serving.host"

    tell(f"cannot reach https://x-access-token:{TOKEN}@example.org/ {'x' * 5000}")
    _logged(OSError(f"{'y' * 280} {TOKEN}"))
    said = capsys.readouterr().err
    assert TOKEN[:12] not in said
    assert len(said) < 6000

    async def asks() -> None:
        _asks(token)

    async def main() -> None:
        await asyncio.wait([asyncio.ensure_future(asks())])  # none asks for its result

    asyncio.run(main())
    said = capsys.readouterr().err
    assert TOKEN not in said
    assert "never retrieved" in said
    assert "asking failed" in said


def _deep(frames: int, text: str) -> None:
    if frames:
        _deep(frames - 1, text)
    raise ValueError(text)


def _fault(unit: str, size: int) -> ValueError:
    with pytest.raises(ValueError, match="x") as caught:
        _deep(200, unit * (size // len(unit)))
    return caught.value


def _logged(error: BaseException) -> None:
    logging.getLogger("bot.serving.host").error("o/r: a bug in brat", exc_info=error)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_fault_with_a_message_of_megabytes_and_many_frames_is_logged_at_once(
    *, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    journal(as_json=as_json)
    faults = {size: _fault("xxx ", size) for size in (5_000, 5_000_000)}

    assert growth(lambda size: _logged(faults[size]), 5_000, times=1000) < 10
    said = capsys.readouterr().err
    assert len(said.splitlines()) < 2 * TRIES * 40
    assert len(said) < 2 * TRIES * 4000
    assert "tests/brat/test_journal.py" in said
    assert "... 191 more" in said


def test_causes_groups_and_what_has_no_text_are_told_in_few_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    journal()
    error: Exception = ValueError("the first")
    for number in range(40):
        group = ExceptionGroup(f"group {number}", [error, *[KeyError("k")] * 50])
        group.__cause__ = OSError("a cause")
        error = group

    _logged(error)

    said = capsys.readouterr().err
    assert "ExceptionGroup: group 39" in said
    assert "one of the group ExceptionGroup: group 38" in said
    assert "after OSError: a cause" in said
    assert len(said.splitlines()) < 40

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    _logged(Mute())
    assert "(its text cannot be read: RuntimeError)" in capsys.readouterr().err
