"""Deliveries that are lost, doubled or shuffled end in the same world."""

import random
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.door.webhooks import WEBHOOK_PATH
from bot.loop.loop import Loop
from bot.serving import bot_service
from brat.forge.storage.forge_state import Forge
from tests.bot.hosted import SECRET, settings
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.github_forge.webhooks import deliveries_in
from tests.world.receiver import Delivery, Receiver, receiving

LIST = "- [ ] one\n- [ ] two\n- [ ] three\n"
Post = list[Delivery]
World = dict[str, Any]

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


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


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


class Story:
    def __init__(self, here: Town, loop: Loop, port: int, receiver: Receiver) -> None:
        self.here = here
        self.loop = loop
        self._door = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
        self._receiver = receiver
        self._handed = 0

    async def opened(self, title: str) -> int:
        body = {"title": title, "body": LIST}
        return int((await self.here.post("issues", body, by="alice"))["number"])

    async def labels(self, number: int) -> None:
        label = {"labels": ["brat"]}
        await self.here.post(f"issues/{number}/labels", label, by="alice")

    async def says(self, number: int, text: str) -> None:
        await self.here.post(f"issues/{number}/comments", {"body": text}, by="alice")

    async def hand_over(self, way: Callable[[Post], Post]) -> None:
        """Bring what the forge sent since the last time to the door, in some way."""
        sent = deliveries_in(self.here.forge.store)
        await until(lambda: not any(one.pending for one in sent.all()))
        post = self._receiver.came[self._handed :]
        self._handed = len(self._receiver.came)
        for delivery in way(post):
            answer = await self.here.client.post(
                self._door, content=delivery.body, headers=_own(delivery)
            )
            assert answer.status_code == 202
            await self.loop.tick()

    async def settle(self) -> None:
        for _ in range(2):
            self.loop.wake.all()
            assert not await self.loop.tick(), self.loop.context.troubles

    async def world(self) -> World:
        """Return what people see, and what is true."""
        issues = await self.here.get("issues?state=all")
        numbers = sorted(int(issue["number"]) for issue in issues)
        said = {
            number: sorted(
                _content(one["body"])
                for one in await self.here.get(f"issues/{number}/comments")
            )
            for number in numbers
        }
        return {
            "labels": {
                issue["number"]: sorted(label["name"] for label in issue["labels"])
                for issue in issues
            },
            "said": said,
            "convoys": {
                name: (c.state, c.by, c.text, [task.state for task in c.tasks])
                for name, c in self.loop.context.mirror.state.convoys.items()
            },
            "reactions": sorted(
                one.content for one in self.here.forge.store.reactions.all()
            ),
        }


def _content(body: str) -> list[str]:
    """Return a comment's lines, in any order, without this forge's own addresses."""
    said = body.partition("-->\n")[2] or body
    return sorted(re.sub(r"http://\S+#issuecomment-\d+", "LINK", said).split("\n"))


def _own(delivery: Delivery) -> httpx.Headers:
    """Return the headers of GitHub's, without those of the connection."""
    kept = {
        name: value
        for name, value in delivery.headers.items()
        if name.startswith(("X-", "Content-Type"))
    }
    return httpx.Headers(kept)


async def told(folder: Path, receiver: Receiver, way: Callable[[Post], Post]) -> World:
    with Forge(folder / "forge") as forge:
        tokens = settle_in(forge, make_source(folder / "source"))
        forge.add_hook(REPO, receiver.url, SECRET)
        async with town(forge, tokens, folder) as here:
            told = settings(here, token=tokens["bot"], roles=("mayor",))
            async with (
                bot_service.opened(told, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
            ):
                receiver.came.clear()
                return await _happens(Story(here, loop, port, receiver), way)


async def _happens(story: Story, way: Callable[[Post], Post]) -> World:
    first = await story.opened("Spell words")
    await story.labels(first)
    await story.hand_over(way)
    await story.settle()
    second = await story.opened("Count words")
    await story.says(first, "/brat drop 3")
    await story.says(second, "Hello.")
    await story.says(first, "/brat ping")
    await story.labels(second)
    await story.hand_over(way)
    await story.settle()
    return await story.world()


@pytest.mark.timeout(600)
async def test_the_world_ends_the_same(tmp_path: Path, receiver: Receiver) -> None:
    right = await told(tmp_path / "right", receiver, lambda post: post)
    for name, way in WAYS.items():
        found = await told(tmp_path / name, receiver, way)
        assert found == right, name

    assert right["labels"] == {1: ["brat:active"], 2: ["brat:active"]}
    first, second = right["convoys"].values()
    assert first[3] == ["queued", "queued", "dropped"]
    assert second[3] == ["queued", "queued", "queued"]
    assert len(right["said"][1]) == 4  # one says that no secret holds a key
