# ruff: noqa: E501  each fault is one line, and its snapshot too
import tomllib

import jsonschema_rs
import pytest
from hypothesis import given, strategies as st
from inline_snapshot import snapshot

from convoy.config import WINDOW_MS, ConfigError, due, load, schema
from convoy.config.keys import FORMER_KEYS
from convoy.model.ids import HOUR_MS
from convoy.model.records import EngineSpec, Gate, Limits, Price, Settings
from convoy.text import seconds_in, spoken_duration
from tests.world.cases import looped

# The example that brat's users know, as it stands.
KNOWN = """\
# .brat/config.toml
[engine.default]
type = "claude-code"
[engine.tests]
type = "aider"
model = "gpt-4o"
[engine.docs]
type = "codex"
[refinery]
strategy = "squash" # rebase | squash | merge
require_ci = true
"""

EVERYTHING = """\
[engine.default]
type = "shell"
args = ["make", "fix"]
timeout = "1h30m"
max_sessions = 10
[engine.tests]
type = "aider"
model = "gpt-4o"
price = { input = 3, output = 15.5, cached = 0.3 }
[engine.own]
type = "plugin:echo"
secret = "TEAM_KEY"
silence = "2m"
[refinery]
strategy = "merge"
require_ci = false
checks = ["build"]
max_parallel = 12
[witness]
max_sessions = 50
attempts = 5
timeout = 600
[mayor]
tasks = 100
[ci]
command = "make test"
timeout = "90s"
slots = 6
[gate]
protected = ["deploy/**", ".brat/**"]
max_files = 10
max_bytes = 1000
[budget]
attempt = 2.5
calls = 7
tokens = 9000
[runner]
egress = ["pypi.org", "*.npmjs.org", "127.0.0.1:8443", "*"]
"""


def faults(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, source=".brat/config.toml")
    assert str(caught.value) == "\n".join(caught.value.faults)
    return str(caught.value)


def test_the_known_example_is_valid_as_it_stands() -> None:
    assert load(KNOWN, source="x").settings() == Settings(
        engines={
            "default": EngineSpec(type="claude-code"),
            "tests": EngineSpec(type="aider", model="gpt-4o"),
            "docs": EngineSpec(type="codex"),
        },
        strategy="squash",
        require_ci=True,
        max_parallel=8,
    )
    windows = "\ufeff" + KNOWN.replace("\n", "\r\n")
    assert load(windows, source="x") == load(KNOWN, source="x")
    for text, cores, most in (  # judged at once: what CI has room for
        ("", None, 8),
        ("", 2, 8),
        ("[ci]\nslots = 10", 2, 11),
        ("[ci]\nslots = 10", None, 8),
        ("[refinery]\nmax_parallel = 1", 2, 1),
    ):
        assert load(text, source="x").settings(cores).max_parallel == most


def test_every_key_reaches_the_settings() -> None:
    config = load(EVERYTHING, source="x")

    assert config.settings() == Settings(
        engines={
            "default": EngineSpec(
                type="shell", args=("make", "fix"), timeout_s=5400, max_sessions=10
            ),
            "tests": EngineSpec(
                type="aider",
                model="gpt-4o",
                timeout_s=600,
                price=Price(input=3.0, output=15.5, cached=0.3),
            ),
            "own": EngineSpec(
                type="plugin:echo", secret="TEAM_KEY", silence_s=120, timeout_s=600
            ),
        },
        strategy="merge",
        require_ci=False,
        checks=("build",),
        max_parallel=12,
        attempts=5,
        tasks=100,
        max_sessions=50,
        limits=Limits(
            patch_files=10, patch_bytes=1000, model_calls=7, tokens=9000, usd=2.5
        ),
        egress=("pypi.org", "*.npmjs.org", "127.0.0.1:8443", "*"),
        gate=Gate(protected=(*Gate().protected, "deploy/**")),
    )
    assert config.ci.command == ("sh", "-c", "make test")
    assert config.ci.timeout == 90
    assert config.ci.slots == 6
    assert load("[runner]\negress = []", source="x").settings().egress == ()
    words = load('[ci]\ncommand = ["python", "-m", "pytest"]', source="x").ci.command
    assert words == ("python", "-m", "pytest")


def test_a_key_that_is_gone_is_told_with_what_to_do_and_many_a_page_at_a_time() -> None:
    for key, advice in FORMER_KEYS.items():
        table, _, name = key.rpartition(".")
        text = f"[{table}]\n{name} = 1"
        why = f"this key no longer exists: {advice}"
        assert faults(text) == f".brat/config.toml: {key}: {why}"

    found = faults("".join(f"a{number} = 1\n" for number in range(2500))).split("\n")
    assert len(found) == 51
    last = ".brat/config.toml: 2450 more faults; fix those above first"
    assert found[-1] == last


def test_wrong_values_are_told_with_what_is_allowed() -> None:
    text = """
[engine]
default = 3
[engine."my tests"]
type = "aider"
[engine.shell]
type = "shell"
[engine.docs]
type = "Codx"
args = ["--fast", 1]
timeout = "30"
model = ""
max_sessions = 0
[engine.empty]
[refinery]
strategy = "fast-forward"
require_ci = "yes"
checks = "build"
[witness]
attempts = 2.0
timeout = true
max_sessions = 0xffffffffffffffffffffffff
[mayor]
tasks = { most = 1 }
[ci]
command = " "
timeout = "121h"
[gate]
protected = ["!.github/**"]
max_files = 2026-01-01
"""

    assert faults(text) == snapshot("""\
.brat/config.toml: engine.default: 3 is not allowed; allowed: a table, such as [engine.default]
.brat/config.toml: engine."my tests": this name is not allowed; allowed: tables [engine.NAME], where NAME has at most 40 letters, digits, - and _
.brat/config.toml: engine.shell.args: missing; a shell engine needs a command, such as args = ["make"]
.brat/config.toml: engine.docs.type: "Codx" is not allowed; allowed: claude-code, aider, opencode, codex, continue, gemini, copilot, shell, plugin:NAME; did you mean codex?
.brat/config.toml: engine.docs.model: "" is not allowed; allowed: a non-empty string
.brat/config.toml: engine.docs.args[1]: 1 is not allowed; allowed: a non-empty string
.brat/config.toml: engine.docs.timeout: "30" is not allowed; allowed: seconds, or a string such as "90s", "30m" or "1h30m", up to 120h
.brat/config.toml: engine.docs.max_sessions: 0 is not allowed; allowed: a whole number from 1 to 1000
.brat/config.toml: engine.empty.type: missing; allowed: claude-code, aider, opencode, codex, continue, gemini, copilot, shell, plugin:NAME
.brat/config.toml: refinery.strategy: "fast-forward" is not allowed; allowed: rebase, squash, merge
.brat/config.toml: refinery.require_ci: "yes" is not allowed; allowed: true or false
.brat/config.toml: refinery.checks: "build" is not allowed; allowed: a list of strings
.brat/config.toml: witness.timeout: true is not allowed; allowed: seconds, or a string such as "90s", "30m" or "1h30m", up to 120h
.brat/config.toml: witness.max_sessions: a number this large is not allowed; allowed: a whole number from 1 to 1000
.brat/config.toml: witness.attempts: 2.0 is not allowed; allowed: a whole number from 1 to 20
.brat/config.toml: mayor.tasks: a table is not allowed; allowed: a whole number from 1 to 500
.brat/config.toml: ci.command: " " is not allowed; allowed: a command line such as "make test", or a list of its words
.brat/config.toml: ci.timeout: "121h" is not allowed; allowed: seconds, or a string such as "90s", "30m" or "1h30m", up to 120h
.brat/config.toml: gate.protected[0]: "!.github/**" is not allowed; allowed: a .gitignore pattern that does not start with !, # or a space
.brat/config.toml: gate.max_files: 2026-01-01 is not allowed; allowed: a whole number from 1 to 100000\
""")
    assert faults('engine = 3\nrefinery = ["squash"]') == snapshot("""\
.brat/config.toml: engine: 3 is not allowed; allowed: tables [engine.NAME], where NAME has at most 40 letters, digits, - and _
.brat/config.toml: refinery: a list is not allowed; allowed: a table\
""")
    assert faults('[engine]\ntype = "codex"') == snapshot(
        '.brat/config.toml: engine.type: "codex" is not allowed; allowed: a table, such as [engine.default]'
    )


NO_TOML = "this is not valid TOML: "


@looped(
    ("[refinery]\nstrategy = squash", f"line 2, column 12: {NO_TOML}Invalid value"),
    ("a = 1\n\nb = [1,", f"line 3, column 8: {NO_TOML}Invalid value"),
    ("[ci]\n[ci]", f"line 2, column 4: {NO_TOML}Cannot declare 'ci' twice"),
    ("a = " + "[" * 2000, f"{NO_TOML}it is nested too deeply"),
    ("a = " + "1" * 9000, f"{NO_TOML}a number in it is too long"),
    ("\n" + "a . 'b'." * 4000 + "c = 1", "line 2: a key may have at most 32 parts"),
    ("a = 1\n" * 3001, "it exceeds the limit of 3000 keys and values"),
    ("a." * 50_000 + "b = 1", "it exceeds the limit of 65536 characters"),
)
def test_what_is_no_toml_is_told_with_its_place(text: str, told: str) -> None:
    assert faults(text) == f".brat/config.toml: {told}"


CODEX = "[engine.default]\ntype = 'codex'\n"


@looped(
    ("price = 3.0", "price: 3.0 is not allowed; allowed: a table such as"),
    ("price = { input = 3 }", "price.output: missing; allowed: a number of US dollars"),
    ("price = { input = -1, output = 1 }", "price.input: -1 is not allowed"),
    ("price = { input = nan, output = 1 }", "price.input: nan is not allowed"),
    ("price = { input = true, output = 1 }", "price.input: true is not allowed"),
    ("tools = ['Write']", "tools: not allowed; codex cannot limit its tools"),
    # no variable of the job itself is a secret
    *(
        (f"secret = '{name}'", f'secret: "{name}" is not allowed')
        for name in (
            *("GITHUB_TOKEN", "ACTIONS_ID_TOKEN", "BRAT_TOKEN", "GIT_ASKPASS"),
            *("x", "A=B"),
        )
    ),
    # a server is a name with https
    *(
        (f"url = '{url}'", "is not allowed; allowed: an https URL such as")
        for url in (
            *("http://models.example.com/v1", "https://localhost/v1", "example.com"),
            *("https://10.0.0.5/v1", "https://[::1]/v1", "https://a:b@example.com"),
            *("https://example.com?a=b", "https://example.com/../x"),
            *(
                "https://example.com/#x",
                "https://2130706433",
                "https://example.com/v1 ",
            ),
            *("https://example.com\\@evil.example", "https://example.com:65536"),
        )
    ),
    *(
        (f"[runner]\negress = [{host!r}]", 'a host such as "pypi.org", "*.npmjs.org"')
        for host in ("**", "*:443", "https://pypi.org", "PyPI.org", "a b", "*.", "")
    ),
    ('[ci]\ncommand = "a\\u0000b"', 'ci.command[2]: "a\\u0000b" is not allowed'),
    (
        '[mayor]\nengine = "plan"\n[engine.plans]\ntype = "codex"',
        "mayor.engine: there is no table [engine.plan]; did you mean plans?",
    ),
    # a schedule's issue is one that a forge takes
    *(
        (f"[schedule.weekly]\nhours = 168\ntitle = '{title}'\ntext = '{text}'", told)
        for title, text, told in (
            ("x" * 257, "y", "title: "),
            ("x" * 257, "y", "allowed: a string of 1 to 256 characters"),
            ("x", "y" * 60_001, "allowed: a string of 1 to 60000 characters"),
        )
    ),
    # a long value is cut and stays on one line
    (
        f'[refinery]\nstrategy = "a\\n{"b" * 500}"',
        f'refinery.strategy: "a\\n{"b" * 58}\\u2026" is not allowed; allowed: rebase',
    ),
)
def test_one_wrong_value_is_told(text: str, told: str) -> None:
    (said,) = faults(CODEX + text).split("\n")

    assert told in said


def test_the_schema_takes_what_is_valid_and_refuses_what_is_refused() -> None:
    jsonschema_rs.meta.validate(schema())
    for table in schema()["$defs"].values():
        assert table["description"]
        assert all(key["description"] for key in table["properties"].values())
    known = jsonschema_rs.validator_for(schema())
    for text in ("", KNOWN, EVERYTHING):
        assert known.is_valid(tomllib.loads(text)), text
    for text in (
        *("[engine.default]", '[engine."my tests"]\ntype = "aider"'),
        *('refinery.strategy = "fast-forward"', 'witness.timeout = ""'),
        *('witness.timeout = "30"', "refinery.stratgy = 1", "a = 1", 'ci.command = ""'),
        "mayor.tasks = 0",
    ):
        assert faults(text)
        assert not known.is_valid(tomllib.loads(text)), text


@given(st.integers(0, 10**7))
def test_a_length_of_time_is_written_as_it_is_read(length_s: int) -> None:
    assert seconds_in(spoken_duration(length_s)) == length_s
    for text in ("", "30", "m", "1.5h", "30 m", "5m1h", "-1m", "٣m"):
        with pytest.raises(ValueError, match="not a duration such as 90s"):
            seconds_in(text)


def test_a_provider_whose_address_differs_by_account_needs_it() -> None:
    named = "[engine.default]\ntype = 'claude-code'\nmodel = 'bedrock/x'\n"

    said = faults(named)

    assert "needs url, such as https://bedrock-runtime.REGION.amazonaws.com" in said
    url = "https://bedrock-runtime.eu-west-1.amazonaws.com"
    text = f"{named}url = '{url}'\ntools = ['Write', 'Bash(git *)']"
    spec = load(text, source="x").settings().engines["default"]
    assert (spec.url, spec.keys) == (url, ("AWS_BEARER_TOKEN_BEDROCK",))
    assert spec.tools == ("Write", "Bash(git *)"), "it can be told them"


# --- when a schedule's time has come --------------------------------------------------


words = st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)


@given(words, words, st.integers(1, 500), st.integers(0, 2**42))
def test_it_is_due_once_a_period_and_for_an_hour(
    name: str, repository: str, hours: int, now: int
) -> None:
    def begun(at: int) -> set[int]:
        return {each.begun for each in due({name: hours}, repository, at)}

    period = hours * HOUR_MS
    found = set[int]()
    for at in range(now, now + period, HOUR_MS):
        found |= begun(at)
    assert len(found) in {1, 2}  # the second begins where the first look began
    first = min(found)
    assert begun(first) == begun(first + WINDOW_MS - 1) == {first}
    if hours > 1:
        assert begun(first + WINDOW_MS) == begun(first - 1) == set()
    assert begun(first + period) == {first + period}
