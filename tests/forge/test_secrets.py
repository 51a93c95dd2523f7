"""Secrets of runs: who may write sees their names, nobody a value."""

import pytest

from tests.world.forge import Town


async def test_names_are_listed_and_values_are_not(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAT_SECRET_TEAM_KEY", "made-up-value")

    answer = await here.ask("GET", "actions/secrets?per_page=100")
    shared = await here.get("actions/organization-secrets")

    assert "TEAM_KEY" in {each["name"] for each in answer.json()["secrets"]}
    assert "made-up-value" not in answer.text
    assert shared == {"total_count": 0, "secrets": []}


async def test_who_only_reads_sees_none(here: Town) -> None:
    assert (await here.ask("GET", "actions/secrets", by="mallory")).status_code == 403
