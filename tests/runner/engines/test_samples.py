"""Every engine's real output is understood: what it did, used and met."""

import pytest

from convoy.model.session_result import Trouble
from tests.runner.engines.hearing import SAMPLES, heard
from tests.world.cases import looped

ALL = sorted({path.name.rpartition(".")[0] for path in SAMPLES.glob("*.std*")})

WELL = {
    "aider-ok": (["edit"], (0, 0)),
    "claude-noperm": (["!Write"], (2400, 100)),
    "claude-ok": (["Write"], (2400, 100)),
    "claude-sseerr": (["Write"], (9600, 106)),
    "claude@latest-ok": (["Write"], (2400, 100)),
    "claude@latest-sigint": (["Bash"], (2400, 100)),
    "codex@native-ok": (["command_execution"], (2000, 100)),
    "continue-ok": ([], (0, 0)),
    "copilot-noperm": (["create", "!tool"], (0, 0)),
    "copilot-ok": (["create"], (0, 0)),
    "copilot@anthropic-ok": (["create"], (0, 0)),
    "gemini-noperm": ([], (1000, 50)),
    "gemini-ok": (["write_file"], (2000, 100)),
    "opencode-ok": (["write"], (2000, 100)),
}

TOLD: dict[tuple[Trouble, int | None], str] = {
    ("budget", None): "claude-budget claude-turns codex@native-quota",
    ("credentials", 401): (
        "aider-401 claude-b401 claude@latest-e401 codex@default-401 continue-401 "
        "copilot-401 gemini-401 opencode-401"
    ),
    ("failed", None): (
        "claude-sigint codex@default-400 codex@native-ctx continue-sseerr"
    ),
    ("failed", 400): "continue-400",
    ("rate_limited", None): (
        "codex@native-rl codex@native-usage gemini@bounded-b429 opencode@logs-429"
    ),
    ("rate_limited", 429): (
        "aider-429 claude-b429 claude-rl429oauth claude@latest-e429 codex@default-429 "
        "copilot-429 gemini-429 opencode-429"
    ),
    ("vendor_down", None): (
        "claude-garbage claude-refused codex@default-500 codex@default-garbage "
        "codex@default-refused continue-refused copilot-garbage gemini-garbage "
        "gemini-refused gemini-sseerr opencode-refused opencode-sseerr"
    ),
    ("vendor_down", 500): (
        "aider-500 claude-b500 claude@latest-e500 continue-500 gemini@bounded-b500 "
        "opencode-500"
    ),
    ("vendor_down", 529): (
        "claude@latest-e529 codex@default-529 continue-529 opencode-529"
    ),
}
TROUBLED = {name: told for told, names in TOLD.items() for name in names.split()}

CUT_OFF = {
    *("claude-sigterm", "codex-sigint", "codex-sigterm", "copilot@native-sigint"),
    *("gemini-sigint", "opencode-deny", "opencode-sigint"),
}


def test_every_sample_is_looked_at() -> None:
    assert sorted({*WELL, *TROUBLED, *CUT_OFF}) == ALL


@looped(*WELL)
def test_a_good_end_is_heard_with_its_tools_and_tokens(sample: str) -> None:
    found = heard(sample)

    assert (found.report.status, found.report.trouble) == ("done", None)
    assert (found.tools, found.tokens) == WELL[sample]
    assert found.report.summary


@looped(*TROUBLED)
def test_trouble_is_told_by_its_kind_and_status(sample: str) -> None:
    found = heard(sample).report

    assert found.status is None
    assert found.trouble is not None
    assert (found.trouble.kind, found.trouble.status) == TROUBLED[sample]
    assert found.trouble.message


@looped(*sorted(CUT_OFF))
def test_an_engine_that_was_cut_off_has_not_said_that_it_is_done(sample: str) -> None:
    found = heard(sample).report

    assert (found.status, found.trouble) == (None, None)


def test_a_session_is_known_by_the_name_its_engine_gave_it() -> None:
    named = ("claude-ok", "codex@native-ok", "copilot-ok", "gemini-ok", "opencode-ok")

    assert [heard(each).report.session for each in named] == [
        "705deb7f-272c-4f51-bca1-d198bb7dc36d",
        "01a1fbdb-9b23-7db1-a349-7725d8df5d9f",
        "39fed864-4f5b-43d1-860a-327087356a70",
        "00ecf8b8-9ec5-4384-a9d1-514d9782e688",
        "ses_e043361caffe79TOHvqdm7Xfpe",
    ]


def test_money_is_counted_and_a_vendors_time_heard_where_an_engine_tells_it() -> None:
    assert heard("claude-ok").usd == pytest.approx(0.0127)
    assert heard("opencode-ok").usd == pytest.approx(0.0021)
    (rejected,) = heard("claude-rl429oauth").waits
    (soon,) = heard("codex@native-rl").waits
    assert (rejected.until, soon.wait_s) == (1_795_300_000, 3.5)


def test_usage_that_stands_in_a_file_is_counted() -> None:
    copilot = (SAMPLES / "copilot-usage-output-file.json").read_text()
    aider = (
        '{"event": "launched", "properties": {"python_version": "3.11"}}\n'
        '{"event": "message_send", "properties": {"main_model": "gpt-5", '
        '"prompt_tokens": 700, "completion_tokens": 40, "cost": 0.25}}\n'
    )
    used = '"usage": {"totalCost": 0.5, "promptTokens": 9, "completionTokens": 4}'
    cn = f'{{"sessionId": "brat", {used}}}'

    assert heard("copilot-ok", copilot).tokens == (2000, 100)
    assert heard("aider-ok", aider).tokens == (700, 40)
    assert heard("aider-ok", aider).usd == 0.25
    assert heard("continue-ok", cn).tokens == (9, 4)
    assert heard("continue-ok", cn).usd == 0.5
