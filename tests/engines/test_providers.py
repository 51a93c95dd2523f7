"""Real CLIs reach providers of models with a key that they never see.

The provider is the scripted vendor at `BRAT_MODEL_URL`, at the paths of the real one.
"""

from typing import NamedTuple

import pytest

from tests.engines.cases import COLUMNS, ENGINES, KEY, on
from tests.engines.driving import key, seen, session, vendor
from tests.engines.record import LONG_S
from tests.engines.test_requests import refused
from tests.runner.job import Forge
from tests.world.vendor.vendor_server import digest

pytestmark = pytest.mark.timeout(LONG_S + 60)


class Served(NamedTuple):
    type: str
    model: str
    url: str
    secret: str
    """The variable with the key."""
    path: str
    """Where the provider is asked."""
    asked: str
    """The model that it is asked for."""


_AMAZONS = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
_CLAUDE, _CHAT = "anthropic/claude-sonnet-4.5", "/api/v1/chat/completions"
_DATED = "claude-sonnet-4-5@20250929"
_GOOGLES = "/v1/projects/acme/locations/us-east5"
_AZURE = "https://acme.openai.azure.com/openai/v1"
_BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com"
_VERTEX = f"https://us-east5-aiplatform.googleapis.com{_GOOGLES}"
_FOUNDRY = "https://acme.services.ai.azure.com/anthropic"
_GEMINI, _CODEX = "gemini-2.5-flash", "/backend-api/codex/responses"
_COMPLETIONS = "/openai/v1/chat/completions"
SERVED = (
    *(
        Served(name, f"openrouter/{_CLAUDE}", "", "OPENROUTER_API_KEY", _CHAT, _CLAUDE)
        for name in ("aider", "opencode")
    ),
    Served(
        *("claude-code", f"bedrock/{_AMAZONS}", _BEDROCK, "AWS_BEARER_TOKEN_BEDROCK"),
        *(f"/model/{_AMAZONS}/invoke-with-response-stream", _AMAZONS),
    ),
    Served(
        *("claude-code", f"vertex/{_DATED}", _VERTEX, "GOOGLE_OAUTH_ACCESS_TOKEN"),
        f"{_GOOGLES}/publishers/anthropic/models/{_DATED}:streamRawPredict",
        _DATED,
    ),
    Served(
        *("gemini", f"vertex/{_GEMINI}", _VERTEX, "GOOGLE_OAUTH_ACCESS_TOKEN"),
        f"{_GOOGLES}/publishers/google/models/{_GEMINI}:streamGenerateContent",
        _GEMINI,
    ),
    Served(
        *("gemini", f"code-assist/{_GEMINI}", "", "GOOGLE_CLOUD_ACCESS_TOKEN"),
        *("/v1internal:streamGenerateContent", _GEMINI),
    ),
    Served("codex", "chatgpt/gpt-5", "", "CODEX_ACCESS_TOKEN", _CODEX, "gpt-5"),
    Served(
        *("claude-code", "foundry/claude-sonnet-4-5", _FOUNDRY),
        *("ANTHROPIC_FOUNDRY_API_KEY", "/anthropic/v1/messages", "claude-sonnet-4-5"),
    ),
    Served("codex", "mine", _AZURE, "OPENAI_API_KEY", "/openai/v1/responses", "mine"),
    *(
        Served(name, f"{by}/mine", _AZURE, "OPENAI_API_KEY", _COMPLETIONS, "mine")
        for name, by in (
            *(("aider", "openai"), ("opencode", "compatible")),
            *(("continue", "openai"), ("copilot", "openai")),
        )
    ),
)


@pytest.mark.parametrize(
    "served",
    [
        on(ENGINES[each.type], each, named=f"{each.type}-{each.url or each.model}")
        for each in SERVED
    ],
)
def test_a_provider_is_asked_with_its_key_and_the_agent_never_has_it(
    forge: Forge, served: Served
) -> None:
    column, times = COLUMNS["ok"], {"timeout_s": LONG_S, "silence_s": LONG_S}
    engine = ENGINES[served.type]
    with vendor(forge.root, column) as at:
        given = {"model": served.model, "url": served.url, **times}
        left = session(forge, engine, at.url, **given)
        calls = at.calls

    assert left.result["outcome"] == "uncommitted", left.said[-3000:]
    own = [each for each in calls if each["path"] == served.path]
    answered = [each for each in calls if each["model"]]  # not questions of the account
    # Claude Code asks Bedrock which of its models the account has, in other calls.
    if "bedrock" in served.url:
        assert [each for each in refused(left) if not each.startswith("model=")] == []
    else:
        assert (refused(left), own) == ([], answered)
    assert {each["key"] for each in calls} == {digest(key(served.secret))}
    assert {each["model"] for each in own} == {served.asked}
    found = seen(forge, left)
    assert "brat-" in found
    assert KEY not in found
