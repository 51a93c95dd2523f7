"""What the agent must not find, and what must not find its way into the runner."""

import base64
import sys

from convoy.model.records import EngineSpec
from runner.box.surroundings import TOOL_CHOICES, TOOL_FOLDERS
from tests.documents.engine_tables import VARIABLES
from tests.runner.job import NEVER_S, TOKEN, Forge, git

PAIR = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def test_an_agents_environment_holds_what_is_listed_and_its_key_alone(
    forge: Forge,
) -> None:
    script = (
        "import os; print(*os.environ); print(os.environ['TEAM_KEY'], 'aws-012345')"
    )
    argv = (sys.executable, "-I", "-c", script)
    spec = EngineSpec(type="shell", args=argv, timeout_s=NEVER_S, secret="TEAM_KEY")
    keys = {"TEAM_KEY": "key-0123456789", "AWS_KEY": "aws-012345"}
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
    assert shown == "*** aws-012345"


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
