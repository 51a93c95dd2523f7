"""The schedule that wakes the loop is on while there is work, and off else."""

import pytest
import respx

from bot.forge.github import GitHub
from bot.forge.rest import Refused
from tests.bot.conftest import API

WAKE = f"{API}/repos/octo/project/actions/workflows/brat-wake.yml"


@pytest.mark.parametrize(
    ("state", "on", "asked"),
    [
        ("active", False, "disable"),
        ("disabled_manually", True, "enable"),
        ("disabled_inactivity", True, "enable"),
        ("active", True, ""),
        ("disabled_manually", False, ""),
    ],
)
async def test_it_is_changed_only_where_it_is_otherwise(
    state: str,
    on: bool,  # noqa: FBT001  a table
    asked: str,
    github: GitHub,
    forge: respx.MockRouter,
) -> None:
    forge.get(WAKE).respond(json={"id": 1, "state": state})
    if asked:
        forge.put(f"{WAKE}/{asked}").respond(204)

    await github.runs.wake_by_clock(on=on)

    sent = [call.request.method for call in forge.calls]
    assert sent == (["GET", "PUT"] if asked else ["GET"])


async def test_a_repository_without_the_file_says_so(
    github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(WAKE).respond(404, json={"message": "Not Found"})

    with pytest.raises(Refused):
        await github.runs.wake_by_clock(on=True)
