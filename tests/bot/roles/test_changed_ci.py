"""CI that an agent has changed does not judge its work alone: git is looked at."""

import pytest

from tests.bot.room import NAME, Room

CONFIG = "[refinery]\nrequire_ci = false\n"
FILES = {"README.md": b"# app\n", "one.py": b"one\n", "action.yml": b"runs: {}\n"}


@pytest.mark.room(CONFIG)
async def test_a_candidate_that_changes_ci_waits_for_somebody_who_looked(
    here: Room,
) -> None:
    await here.worked(1, FILES)  # the log does not tell that it changes CI
    await here.loop.tick()

    assert here.task(1).state == "needs-review"
    assert here.task(1).withdrawn
    assert "This work changes files that control CI" in "\n".join(here.spoken())
    assert here.tip(f"convoy/{NAME}/base") == here.tip("main")

    await here.answer("/brat merge", on=here.pull(1))
    assert here.task(1).state == "merged"
