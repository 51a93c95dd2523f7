"""What an engine is started with: a vector, its key, its server, nothing else."""

from base64 import urlsafe_b64encode
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from convoy.model.records import EngineSpec
from runner.engines import ENGINES
from runner.engines.row import Call, Key, Row, chatgpt_account
from tests.world.cases import looped

SECRET = "made-up-key-0123456789"
URL = "http://127.0.0.1:8000"
MODELS = {
    **{row.name: row.sample_model for row in ENGINES.values() if row.sample_model},
    "claude-code": "claude-opus-5",
    "aider": "openai/local",
    "opencode": "compatible/local",
    "continue": "openai/local",
    "copilot": "openai/local",
}
SEVEN = [ENGINES[name] for name in MODELS]
each_row = looped(*SEVEN)


def call(row: Row, **given: object) -> Call:
    spec = EngineSpec(type=row.name, model=MODELS[row.name], args=("--extra",))
    spec = replace(spec, **{k: v for k, v in given.items() if k != "endpoint"})
    endpoint = URL if given.get("endpoint", True) else ""
    return Call(row, spec, Path("/p/prompt.md"), Path("/p/home"), endpoint=endpoint)


def told(row: Row, one: Call) -> dict[str, str]:
    """Return all that reaches the engine but its arguments."""
    return {**one.reached_by(), **row.sets(one), **row.files(one)}


@each_row
def test_the_model_and_what_is_configured_are_arguments_and_a_key_is_not(
    row: Row,
) -> None:
    vendor = call(row).vendor
    one = call(row).with_key({vendor.key: SECRET})

    argv = row.argv(one)
    assert "--extra" in argv
    everything = " ".join([*argv, *told(row, one).values()])
    assert MODELS[row.name].rpartition("/")[2] in everything
    assert not any(SECRET in word for word in argv)
    assert SECRET in one.reached_by()[vendor.key]


@each_row
def test_the_configured_variable_is_the_only_one_that_counts(row: Row) -> None:
    vendor = call(row).vendor
    offered = {"TEAM_KEY": SECRET, vendor.key: "x"}
    one = call(row, secret="TEAM_KEY").with_key(offered)

    assert one.reached_by()[vendor.key] == SECRET
    assert "TEAM_KEY" not in told(row, one)


@each_row
def test_a_stand_in_for_the_vendor_is_told_and_needs_no_key(row: Row) -> None:
    one, alone = call(row).with_key({}), call(row, endpoint=False).with_key({})
    vendor = one.vendor

    everything = " ".join([*row.argv(one), *told(row, one).values()])
    assert URL + vendor.path in everything
    assert one.server == URL + vendor.path
    assert one.missing_key() == ""
    # Without one a missing key is said by the variable's name.
    assert URL not in " ".join([*row.argv(alone), *told(row, alone).values()])
    assert f"in the variable {alone.vendor.key}" in alone.missing_key()
    named = call(row, endpoint=False, secret="TEAM_KEY").with_key({})
    assert "in the variable TEAM_KEY, which is not set" in named.missing_key()


def test_a_subscriptions_token_keeps_its_own_name() -> None:
    row = ENGINES["claude-code"]
    token = "CLAUDE_CODE_OAUTH_TOKEN"

    for secret in (None, token):
        one = call(row, endpoint=False, secret=secret)
        assert one.with_key({token: SECRET}).reached_by() == {token: SECRET}


@looped(
    ("aider", None, "OPENAI_API_KEY"),
    ("aider", "sonnet", "ANTHROPIC_API_KEY"),
    ("aider", "gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
    ("opencode", "anthropic/claude-opus-5", "ANTHROPIC_API_KEY"),
    ("aider", "openrouter/anthropic/claude-opus-5", "OPENROUTER_API_KEY"),
    ("opencode", "openai/gpt-5", "OPENAI_API_KEY"),
    ("claude-code", "claude-opus-5", "ANTHROPIC_API_KEY"),
    ("gemini", "vertex/gemini-2.5-pro", "GOOGLE_OAUTH_ACCESS_TOKEN"),
    ("claude-code", "bedrock/eu.anthropic.claude-x", "AWS_BEARER_TOKEN_BEDROCK"),
    ("claude-code", "vertex/claude-opus-5", "GOOGLE_OAUTH_ACCESS_TOKEN"),
    ("claude-code", "foundry/claude-opus-5", "ANTHROPIC_FOUNDRY_API_KEY"),
    ("opencode", "openrouter/openai/gpt-5", "OPENROUTER_API_KEY"),
    ("continue", "anthropic/claude-opus-5", "ANTHROPIC_API_KEY"),
    ("copilot", None, "COPILOT_GITHUB_TOKEN"),
    ("copilot", "openai/gpt-5", "OPENAI_API_KEY"),
)
def test_a_model_chooses_its_vendor(name: str, model: str | None, key: str) -> None:
    row = ENGINES[name]
    vendor = call(row, model=model, endpoint=False).vendor

    assert (vendor.secret or vendor.key) == key


CHATGPT = "https://chatgpt.com/backend-api/codex"
VERTEX = "https://x-aiplatform.googleapis.com/v1/projects/p/locations/x"
OPENAI, AZURE = "https://api.openai.com", "https://acme.openai.azure.com/openai/v1"


@looped(
    ("codex", "gpt-5", "", (OPENAI, "")),
    ("codex", "gpt-5", AZURE, (AZURE, "/v1")),
    ("codex", "chatgpt/gpt-5", "", (CHATGPT, "/v1")),
    ("gemini", "code-assist/x", "", ("https://cloudcode-pa.googleapis.com", "")),
    ("aider", "openrouter/x/y", "", ("https://openrouter.ai/api/v1", "/v1")),
    ("claude-code", None, "https://a.example/b", ("https://a.example/b", "")),
    ("claude-code", "vertex/", VERTEX, (VERTEX, "")),
    ("copilot", "openai/gpt-5", AZURE, (AZURE, "/v1")),
    ("copilot", "gpt-5", AZURE, (AZURE, "/v1")),
)
def test_an_address_stands_in_for_the_vendor_and_a_stand_in_keeps_its_path(
    name: str, model: str | None, url: str, asked: tuple[str, str]
) -> None:
    row = ENGINES[name]
    one = call(row, model=model, url=url, endpoint=False)

    assert one.upstream == asked
    elsewhere = URL + urlsplit(asked[0]).path
    assert replace(one, endpoint=URL).upstream == (elsewhere, asked[1])


def test_a_chatgpt_login_is_asked_for_the_account_that_its_token_names() -> None:
    claims = b'{"exp":1,"https://api.openai.com/auth":{"chatgpt_account_id":"acc-1"}}'
    token = f"e30.{urlsafe_b64encode(claims).decode().rstrip('=')}.c2ln"

    assert chatgpt_account(token) == "acc-1"
    for other in ("at-opaque", "", "a.b", "e30.e30.x", "a.W10.b", "a.\xe4.b", "sk-.!."):
        assert chatgpt_account(other) == ""


def test_a_providers_key_is_the_only_one_that_goes_to_it() -> None:
    row = ENGINES["opencode"]
    one = call(row, model="openrouter/a/b", endpoint=False)

    assert one.with_key({"OPENAI_API_KEY": SECRET}).key is None
    assert "in the variable OPENROUTER_API_KEY" in one.missing_key()
    claude = ENGINES["claude-code"]
    nowhere = call(claude, model="vertex/x", endpoint=False)
    assert "needs a url for its model vertex/x" in nowhere.missing_key()
    found = one.with_key({"OPENROUTER_API_KEY": SECRET}).key
    assert found == Key("OPENAI_API_KEY", SECRET)


def test_an_engine_that_must_have_a_model_says_so() -> None:
    for name in ("continue", "copilot"):
        with pytest.raises(ValueError, match=r"needs (a model|one).*openai/gpt-5"):
            ENGINES[name].argv(call(ENGINES[name], model=None))
