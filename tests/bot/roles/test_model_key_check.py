"""An engine whose model's key is nowhere: said when the issue is labelled."""

from pathlib import Path

import pytest

from tests.bot.lobby import Lobby, lobby

CONFIG = """\
[engine.default]
type = "claude-code"

[engine.tests]
type = "codex"
secret = "TEAM_KEY"

[engine.free]
type = "shell"
args = ["true"]
"""
LIST = "- [ ] one\n"


async def asked(here: Lobby) -> list[str]:
    """Ask for a convoy; return what is said on the issue beside its comment."""
    await here.write("Spell words", f"@brat\n\n{LIST}")
    await here.delivered(1)
    await here.loop.tick()
    await here.loop.tick()
    assert len(here.convoys()) == 1
    return [said for said in here.said() if "Actions secret" in said]


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ANTHROPIC_API_KEY", "TEAM_KEY"):
        monkeypatch.delenv(f"BRAT_SECRET_{name}", raising=False)
    return monkeypatch


@pytest.mark.usefixtures("secrets")
async def test_what_is_missing_is_named_once(tmp_path: Path) -> None:
    async with lobby(tmp_path, config=CONFIG, sole=False) as here:
        (said,) = await asked(here)

        assert (
            "- `default` looks in `ANTHROPIC_API_KEY` or `CLAUDE_CODE_OAUTH_TOKEN`\n"
            "- `tests` looks in `TEAM_KEY`"
        ) in said
        assert "`free`" not in said


async def test_nothing_is_said_when_all_is_there(
    tmp_path: Path, secrets: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "TEAM_KEY"):
        secrets.setenv(f"BRAT_SECRET_{name}", "made-up")

    async with lobby(tmp_path, config=CONFIG, sole=False) as here:
        assert await asked(here) == []


@pytest.mark.usefixtures("secrets")
async def test_a_bot_that_may_not_know_says_nothing(tmp_path: Path) -> None:
    async with lobby(tmp_path, config=CONFIG, sole=False) as here:
        here.forge.grant(here.loop.context.settings.repository, "brat[bot]", "read")
        names = await here.loop.context.secret_names()

    assert names is None
