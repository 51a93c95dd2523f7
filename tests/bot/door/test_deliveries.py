"""Deliveries that are lost, doubled or shuffled end in the same world."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.door.inbox import Kept, Remark, StartRequest
from tests.bot.room import LIST, Room, room

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]

Post = list[tuple[str, Kept]]
"""What was delivered, with the id of its delivery."""
SAID = ("/brat drop 2", "Hello.", "/brat ping")


def shuffled(post: Post) -> Post:
    mixed = [*post]
    random.Random(8).shuffle(mixed)  # noqa: S311  the same each time
    return mixed


WAYS: dict[str, Callable[[Post], Post]] = {
    "lost": lambda _: [],
    "doubled": lambda post: [one for one in post for _ in range(2)],
    "shuffled": shuffled,
    "some lost, the rest doubled and shuffled": lambda post: shuffled(post[::2] * 2),
}


async def delivered(here: Room, issue: int, comments: dict[int, str]) -> Post:
    """Let a person label an issue, which comes behind comments on the first one."""
    await here.person.relabel(issue, {"brat"}, set())
    asked = StartRequest(issue=issue, title="Do it", text=LIST, by="you")
    remarks = (
        Remark(issue=here.issue, comment=each, text=text, by="you", on_pull=False)
        for each, text in comments.items()
    )
    post: list[Kept] = [*remarks, asked]
    return [(f"delivery-{n}", each) for n, each in enumerate(post)]


async def told(folder: Path, way: Callable[[Post], Post]) -> dict[str, Any]:
    """Hand all over to a bot in some way; return what people see, and what is true."""
    async with room(folder, roles=("mayor",), labelled=False) as here:
        second = await here.person.open_issue("Do it", LIST)
        for issue, texts in ((here.issue, ()), (second, SAID)):
            said = {await here.written(here.issue, t, "you"): t for t in texts}
            for delivery, kept in way(await delivered(here, issue, said)):
                here.context.inbox.put(delivery, kept)
                await here.loop.tick()
            await here.swept(2)
        return {
            "labels": [here.labels(issue) for issue in (here.issue, second)],
            "said": sorted(map(sorted, map(_lines, here.spoken()))),
            "convoys": {
                name: (c.state, c.by, c.text, [task.state for task in c.tasks])
                for name, c in here.state.convoys.items()
            },
            "reactions": sorted(e.content for e in here.forge.store.reactions.all()),
        }


def _lines(body: str) -> Iterator[str]:
    """Give a comment's lines without this forge's own addresses."""
    for line in body.split("\n"):
        yield re.sub(r"http://\S+#issuecomment-\d+", "LINK", line)


async def test_the_world_ends_the_same(tmp_path: Path) -> None:
    right = await told(tmp_path / "right", lambda post: post)
    for name, way in WAYS.items():
        assert await told(tmp_path / name, way) == right, name

    assert right["labels"] == [{"brat:active"}] * 2
    first, second = right["convoys"].values()
    assert (first[3], second[3]) == (["queued", "dropped"], ["queued", "queued"])
