"""What an agent writes into its commits' messages makes the forge do nothing."""

from pathlib import Path

from convoy.model import ids
from tests.bot.hostile import Work
from tests.bot.roles.test_handin_half_done import CONFIG, handed_in
from tests.bot.room import NAME, room


async def test_messages_that_would_do_something_are_text_on_the_branch(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        work = Work(tmp_path, here.loop.context.mirror.path, base)
        first = work.commit({"a.txt": b"a\n"}, base, "Fixes #12\n")
        tip = work.commit({"b.txt": b"b\n"}, first, "Add b [skip ci]\n")
        bundle = ("work.bundle", work.bundled(tip))

        task = await handed_in(here, bundle, commit=tip)

        assert task.state == "needs-review", task.why
        history = here.history()
        landing = history.at(here.tip(ids.task_branch(NAME, 1)))
        assert task.work is not None
        assert str(landing.id) == task.work.commit
        assert landing.message == "Add b (skip ci)\n"
        assert landing.parents[0].message == "Fixes issue #12\n"
        assert landing.tree_id == work.history.at(tip).tree_id
