"""What the agent must not find, and what must not find its way into the runner."""

import base64
import sys

from hypothesis import given, settings, strategies as st

from convoy.model.records import EngineSpec
from convoy.text.redaction import Redaction
from runner.box.surroundings import TOOL_CHOICES, TOOL_FOLDERS
from runner.session.result_folder import HELD_BACK_CHARS, LINE_CHARS, RedactedStream
from tests.documents.engine_tables import VARIABLES
from tests.runner.job import NEVER_S, TOKEN, Forge, git

PAIR = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def test_an_agents_environment_holds_what_is_listed_and_its_key_alone(
    forge: Forge,
) -> None:
    script = "import os; print(*os.environ); print(os.environ['TEAM_KEY'], 'seen-01')"
    argv = (sys.executable, "-I", "-c", script)
    spec = EngineSpec(type="shell", args=argv, timeout_s=NEVER_S, secret="TEAM_KEY")
    keys = {"TEAM_KEY": "key-0123456789", "OTHER": "seen-01"}
    others = {"ACTIONS_RUNTIME_TOKEN": TOKEN, "GH_TOKEN": TOKEN, "PYTHONPATH": "/x"}
    started = forge.started(engine=spec)
    left = forge.run(started, JAVA_HOME="/opt/java", **keys, **others)

    names, shown = left.said.splitlines()
    assert sorted(names.split()) == [
        *("BRAT_ATTEMPT", "BRAT_CONVOY", "BRAT_MODEL", "BRAT_PROMPT", "BRAT_TASK"),
        *("BRAT_TITLE", "CI", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_NOSYSTEM"),
        *("GIT_TERMINAL_PROMPT", "HOME", "JAVA_HOME", "LANG", "PATH", "TEAM_KEY"),
        *("TERM", "TMPDIR"),
    ]
    listed = {name for row in VARIABLES for name in row}
    of_tools = {*TOOL_FOLDERS, *TOOL_CHOICES, "TEAM_KEY"}
    assert {*names.split()} - of_tools <= listed, "docs/engines.md lists them"
    assert shown == "*** seen-01"


def test_secrets_do_not_reach_the_transcript_or_the_log(forge: Forge) -> None:
    shaped = "ghs_" + "A1b2" * 9
    halves = f"printf {TOKEN[:9]}; sleep 0.1; printf {TOKEN[9:]}"
    pair = f"printf {PAIR[:9]}; echo {PAIR[9:]}"  # the task itself holds no secret
    left = forge.run(
        forge.started("sh", "-c", f"{halves}; echo; {pair}; echo see {shaped}"),
        GITHUB_ACTIONS="true",
    )

    assert left.said == "***\n***\nsee ***\n"
    assert left.result["summary"] == "see ***"
    everything = b"".join(each.read_bytes() for each in left.folder.iterdir())
    shown = left.out.removeprefix(f"::add-mask::{PAIR}\n")
    assert shown != left.out  # GitHub takes the line away and hides what it names
    for secret in (TOKEN, PAIR, shaped):
        assert secret.encode() not in everything
        assert secret not in shown + left.err


ORIGIN = "refs/remotes/origin/main"


def test_the_agents_clone_has_the_base_and_nothing_else(forge: Forge) -> None:
    left = forge.sh(
        "git for-each-ref; git symbolic-ref HEAD; git remote; git rev-list --all;"
        "git cat-file --batch-all-objects --batch-check"
    )

    branch = "refs/heads/convoy/fix-login-7/task-2"
    said = left.said.splitlines()
    refs = [f"{forge.base} commit\t{ref}" for ref in (branch, ORIGIN)]
    assert said[:4] == [*refs, branch, forge.base]
    expected = git("rev-list", "--objects", "--no-walk", forge.base, cwd=forge.bare)
    assert {line.split()[0] for line in said[4:]} == {
        line.split()[0] for line in expected.splitlines()
    }


SECRET = "very/secret+value=="
redaction = Redaction([SECRET, "", "short"])


def shown(data: bytes, cuts: list[int]) -> str:
    redacted = RedactedStream(redaction)
    at, text = 0, ""
    for cut in sorted(min(cut, len(data)) for cut in cuts):
        text += redacted.feed(data[at:cut])
        at = cut
    return text + redacted.feed(data[at:]) + redacted.close()


@given(
    st.lists(st.sampled_from([SECRET, SECRET[:7], "ä", "\n", "x", "\r\n", " "])),
    st.lists(st.integers(0, 200)),
)
def test_it_does_not_matter_where_the_output_was_cut(
    parts: list[str], cuts: list[int]
) -> None:
    text = "".join(parts)

    assert shown(text.encode(), cuts) == text.replace(SECRET, "***")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3 * LINE_CHARS), max_size=40))
def test_a_secret_in_an_endless_line_is_hidden_too(cuts: list[int]) -> None:
    text = ("x" * (LINE_CHARS - 5) + SECRET) * 2 + "y" * HELD_BACK_CHARS

    assert shown(text.encode(), cuts) == text.replace(SECRET, "***")
