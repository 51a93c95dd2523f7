"""A task's acceptance command: run on the work in the agent's box, and believed."""

import shutil

from tests.runner.job import Forge, Left, git
from tests.world.cases import looped

DONE = "echo 1 > one; echo 'BRAT: done. One is there.'"
NOOP = "echo 'BRAT: noop. It is there already.'"


def tried(forge: Forge, agent: str, command: str) -> Left:
    return forge.run(forge.started("sh", "-c", agent, acceptance=command))


def test_work_that_passes_is_a_success(forge: Forge) -> None:
    """The agent was told of the command, and what that writes is no work."""
    commits = (
        "git init -q $TMPDIR/new && git -C $TMPDIR/new commit -q --allow-empty -m x"
    )
    command = f"test -e one && {commits} && echo 2 > two && echo it is there"
    left = tried(forge, f"cp $BRAT_PROMPT told.md; {DONE}", command)

    assert (left.result["conclusion"], left.result["accepted"]) == ("success", True)
    assert "it is there" in left.said
    assert left.result["files"] == ["one", "told.md"]
    told = git("show", "work:told.md", cwd=forge.unpacked(left))
    assert "exits with status 0" in told
    assert command in told


@looped(
    (DONE, "echo 1 test failed; exit 3", "failure", False),
    (NOOP, "test -e README.md", "noop", True),
    (NOOP, "false", "failure", False),
    # it is not run on what is not whole
    ("echo 'BRAT: blocked. No.'", "echo I was run", "failure", None),
    ("exit 1", "echo I was run", "failure", None),
)
def test_work_that_does_not_is_a_failure_that_says_why(
    agent: str, command: str, conclusion: str, accepted: object, forge: Forge
) -> None:
    left = tried(forge, agent, command)

    judged = left.result["conclusion"], left.result["accepted"]
    assert judged == (conclusion, accepted)
    assert "I was run" not in left.said
    if agent == DONE:
        why = "The acceptance command exited with status 3: 1 test failed."
        assert left.result["why"] == why
        assert left.result["files"] == ["one"], "the work is kept all the same"
    shutil.rmtree(left.folder)
