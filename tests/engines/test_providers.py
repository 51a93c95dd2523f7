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
SERVED = (
    *(
        Served(name, f"openrouter/{_CLAUDE}", "", "OPENROUTER_API_KEY", _CHAT, _CLAUDE)
        for name in ("aider", "opencode")
    ),
    Served(
        "claude-code",
        f"bedrock/{_AMAZONS}",
        "https://bedrock-runtime.eu-west-1.amazonaws.com",
        "AWS_BEARER_TOKEN_BEDROCK",
        f"/model/{_AMAZONS}/invoke-with-response-stream",
        _AMAZONS,
    ),
    *(
        Served(
            name,
            f"vertex/{model}",
            f"https://us-east5-aiplatform.googleapis.com{_GOOGLES}",
            "GOOGLE_OAUTH_ACCESS_TOKEN",
            f"{_GOOGLES}/publishers/{maker}/models/{model}:{verb}",
            model,
        )
        for name, maker, model, verb in (
            ("claude-code", "anthropic", _DATED, "streamRawPredict"),
            ("gemini", "google", "gemini-2.5-flash", "streamGenerateContent"),
        )
    ),
    Served(
        "gemini",
        "code-assist/gemini-2.5-flash",
        "",
        "GOOGLE_CLOUD_ACCESS_TOKEN",
        "/v1internal:streamGenerateContent",
        "gemini-2.5-flash",
    ),
    Served(
        "codex",
        "chatgpt/gpt-5",
        "",
        "CODEX_ACCESS_TOKEN",
        "/backend-api/codex/responses",
        "gpt-5",
    ),
    Served(
        "claude-code",
        "foundry/claude-sonnet-4-5",
        "https://acme.services.ai.azure.com/anthropic",
        "ANTHROPIC_FOUNDRY_API_KEY",
        "/anthropic/v1/messages",
        "claude-sonnet-4-5",
    ),
    *(
        Served(
            name, model, _AZURE, "OPENAI_API_KEY", f"/openai/v1/{path}", "my-deployment"
        )
        for name, model, path in (
            ("aider", "openai/my-deployment", "chat/completions"),
            ("codex", "my-deployment", "responses"),
            ("opencode", "compatible/my-deployment", "chat/completions"),
            ("continue", "openai/my-deployment", "chat/completions"),
            ("copilot", "openai/my-deployment", "chat/completions"),
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
        left = session(forge, engine, column, at.url, **given)
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
