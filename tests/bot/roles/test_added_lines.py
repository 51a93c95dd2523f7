"""What conflicts because each added lines to one file is made fit at once."""

from pathlib import Path
from typing import Final

import pytest

from tests.bot.requests.test_given_pulls import AGENT
from tests.bot.room import EVERYBODY, room
from tests.bot.there import there

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]
WORK: Final = AGENT.format(
    "sed -i '/^[<=>]\\\\{7\\\\}/d' list || true; "
    "[ $BRAT_ATTEMPT = 2 ] && cp $BRAT_PROMPT told-$BRAT_TASK || "
    "echo $BRAT_TASK >> list"
)


async def test_three_that_add_to_one_list_take_two_rounds(tmp_path: Path) -> None:
    plan = "".join(f"- [ ] task {number}\n" for number in range(1, 4))
    async with room(tmp_path, WORK, text=plan, roles=EVERYBODY) as here:
        await here.until(lambda: here.convoy.ended, red=frozenset())

        one, two, three = here.convoy.tasks
        assert [task.started for task in (one, two, three)] == [1, 2, 2]
        composer, tip = here.context.composer, there(here.convoy.landed)
        assert composer.is_ancestor(there(two.work).base, tip)
        assert not composer.is_ancestor(there(three.work).base, tip), "on 2's own work"
        text = here.context.commits.text(tip)
        assert text("list") == "1\n2\n3\n"
        told = text("told-2")
        assert "conflicts with what has landed" in told
        assert "Task 1 had these instructions:\n\ntask 1" in told
        assert {"+1", "+2"} <= {*told.splitlines()}, "what both sides changed"
