"""A task's acceptance command: run on the work in the agent's box, and believed."""

import pytest

from tests.runner.job import Forge, Left, git

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


def test_work_that_does_not_is_a_failure_that_says_why(forge: Forge) -> None:
    left = tried(forge, DONE, "echo 1 test failed; exit 3")

    assert (left.result["conclusion"], left.result["accepted"]) == ("failure", False)
    why = "The acceptance command exited with status 3: 1 test failed."
    assert left.result["why"] == why
    assert left.result["files"] == ["one"], "the work is kept all the same"


@pytest.mark.parametrize(
    ("command", "conclusion"), [("test -e README.md", "noop"), ("false", "failure")]
)
def test_nothing_is_to_be_done_where_the_command_agrees(
    forge: Forge, command: str, conclusion: str
) -> None:
    left = tried(forge, NOOP, command)

    assert left.result["conclusion"] == conclusion
    assert left.result["accepted"] is (conclusion == "noop")


@pytest.mark.parametrize("agent", ["echo 'BRAT: blocked. No.'", "exit 1"])
def test_it_is_not_run_on_what_is_not_whole(forge: Forge, agent: str) -> None:
    left = tried(forge, agent, "echo I was run")

    assert left.result["accepted"] is None
    assert "I was run" not in left.said
