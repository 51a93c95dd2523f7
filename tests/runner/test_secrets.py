"""What the agent must not find, and what must not find its way into the runner."""

import base64
import sys

from tests.runner.job import TOKEN, Forge, git

PAIR = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def test_an_agents_environment_holds_what_is_listed_alone(forge: Forge) -> None:
    started = forge.started(sys.executable, "-I", "-c", "import os; print(*os.environ)")
    left = forge.run(started, ACTIONS_RUNTIME_TOKEN=TOKEN, GH_TOKEN=TOKEN)

    assert sorted(left.said.split()) == [
        *("BRAT_ATTEMPT", "BRAT_CONVOY", "BRAT_MODEL", "BRAT_PROMPT", "BRAT_TASK"),
        *("BRAT_TITLE", "CI", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_NOSYSTEM"),
        *("GIT_TERMINAL_PROMPT", "HOME", "LANG", "PATH", "TERM", "TMPDIR"),
    ]


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
