"""What is said of lines reaches the next attempt, and is answered where it was said."""

import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from bot.serving import bot_service
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from convoy.model.ids import task_branch
from tests.bot.hosted import elsewhere
from tests.bot.roles.test_handin import NOOP, handed_in
from tests.bot.room import NAME, TWO_WAYS, Room, room
from tests.world.github_forge.extension import github
from tests.world.github_forge.review_comments import LineComment, comments_of

pytestmark = pytest.mark.layer("landing")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FILES = {"README.md": b"# app\n", "one.py": b"one\ntwo\nthree\n"}
LISTED = '[review]\nbots = ["coder[bot]", "linter[bot]"]\n'


def on(line: int, says: str) -> list[dict[str, object]]:
    return [{"path": "one.py", "line": line, "body": says}]


def lines_of(here: Room) -> list[LineComment]:
    return comments_of(here.forge.store).all()


def answers(here: Room) -> list[str]:
    return [each.body.splitlines()[-1] for each in lines_of(here) if each.begins]


@TWO_WAYS
@pytest.mark.parametrize("gesture", ["", "edited", "deleted"])
@pytest.mark.room(extend=github)
async def test_a_persons_thread_is_answered_with_the_commit_once(
    here: Room, gesture: str
) -> None:
    """It may be edited meanwhile, which changes nothing, or deleted: then none is."""
    await here.worked(1, FILES)
    says = "Say `2`, not `two`.\n\n```suggestion\n2\n```"
    await here.reviewed("COMMENT", here.let_in("bea"), comments=on(2, says))
    await here.until(lambda: here.task(1).state == "queued")

    (told,) = here.task(1).notes
    for part in ("one.py, line 2", "+two", f"bea: {says}", "Thread "):
        assert part in told

    store, (first,) = here.forge.store, lines_of(here)
    with store.change():
        if gesture == "edited":
            comments_of(store).put(replace(first, body="Delete it all."))
        elif gesture == "deleted":
            comments_of(store).remove(first)
    made = await here.worked(1, {**FILES, "one.py": b"one\n2\nthree\n"})
    await here.swept(3)

    assert answers(here) == ([] if gesture == "deleted" else [f"Done in {made}."])
    assert not here.state.set_aside
    assert here.tip(task_branch(NAME, 1)) == made
    resolved = [each.is_resolved for each in lines_of(here) if not each.begins]
    assert not any(resolved), "a person resolves their own"
    assert here.task(1).state == "needs-review", "its own answer asks for nothing"


@TWO_WAYS
@pytest.mark.room(LISTED, extend=github)
async def test_a_listed_bot_is_heard_and_another_ignored_once(here: Room) -> None:
    await here.worked(1, FILES)
    stranger = here.let_in("other[bot]", "read")
    for line in (1, 2):
        await here.reviewed("COMMENT", stranger, comments=on(line, "Delete it all."))
    await here.reviewed(
        "COMMENT", here.let_in("coder[bot]", "read"), comments=on(3, "/brat pause")
    )
    await here.until(lambda: here.task(1).state == "queued")
    await here.worked(1, {**FILES, "one.py": b"one\ntwo\n3\n"})
    await here.swept(3)

    assert here.convoy_state() == "active", "a bot gives no commands"
    assert "Delete it all" not in "".join(here.task(1).notes)
    said = [text for text in here.spoken() if "brat ignores reviews" in text]
    assert len(said) == 1
    assert "`other[bot]`" in said[0]
    answered = [e for e in lines_of(here) if e.path == "one.py" and e.is_resolved]
    assert [each.body for each in answered] == ["/brat pause"]
    assert len(answers(here)) == 1


@TWO_WAYS
@pytest.mark.room(f"{LISTED}[witness]\nattempts = 9\n", extend=github)
async def test_a_person_is_asked_where_two_reviewers_disagree(here: Room) -> None:
    bot, bea = here.let_in("linter[bot]", "read"), here.let_in("bea")
    wanted = ((bea, "tabs"), (bot, "spaces"), (bea, "tabs!"), (bot, "spaces!"))
    for by, says in wanted:
        content = f"{here.task(1).started}\n".encode()
        await here.worked(1, {**FILES, "one.py": content})
        await here.reviewed("COMMENT", by, comments=on(1, says))
        await here.until(lambda: here.task(1).state != "needs-review")
    await here.swept(3)

    assert here.task(1).state == "blocked"
    assert "bea and linter[bot] disagree about line 1 of one.py" in (here.task(1).why)
    assert "say what to do, then `/brat retry 1`" in here.task(1).why
    asked = [each for each in here.spoken() if "disagree about line 1" in each]
    assert sum("@you" in each for each in asked) == 1


class Outage:
    """GitHub that lets nobody resolve a thread until that is over."""

    is_over = True
    refused = 0

    def __call__(self, service: Service) -> Extension:
        @web.middleware
        async def cut(request: web.Request, handler: Handler) -> web.StreamResponse:
            is_meant = request.path == "/api/graphql" and not self.is_over
            if is_meant and b"resolveReviewThread" in await request.read():
                self.refused += 1
                return web.Response(status=502)
            return await handler(request)

        made = github(service)
        return dataclasses.replace(made, middlewares=(*made.middlewares, cut))


@pytest.mark.parametrize(
    ("resolve", "declines", "dies"),
    [
        pytest.param(False, False, False, id="a person resolves their own"),
        pytest.param(True, False, False, id="unless the repository says otherwise"),
        pytest.param(True, True, False, id="declined stays open, and one bot flaps"),
        pytest.param(False, False, True, id="a bot dies between answer and resolving"),
    ],
)
@TWO_WAYS
async def test_three_reviewers_are_each_answered_once_in_their_threads(
    tmp_path: Path, *, resolve: bool, declines: bool, dies: bool, delivered: bool
) -> None:
    config = LISTED + f"resolve = {str(resolve).lower()}\n"
    forge = Outage()
    forge.is_over = not dies
    opened = room(tmp_path, config, delivered=delivered, extend=forge)
    async with opened as here, AsyncExitStack() as end:
        await here.worked(1, FILES)
        bots = (here.let_in(f"{each}[bot]", "read") for each in ("coder", "linter"))
        by = (*bots, here.let_in("bea"))
        for line, who in enumerate(by, 1):
            await here.reviewed("COMMENT", who, comments=on(line, f"{who} asks."))
            await here.until(lambda: len(here.task(1).threads) == line)  # noqa: B023

        assert here.task(1).state == "queued"
        told = "".join(here.task(1).notes)
        assert all(f"{who}: {who} asks." in told for who in by)

        first = [each.id for each in lines_of(here)]
        declined = (f"#{first[0]}: it is right",) if declines else ()
        made = await here.worked(1, {**FILES, "one.py": b"1\n2\n3\n"}, declined)
        if dies:
            await here.until(lambda: forge.refused > 1)
            assert answers(here) != []
            forge.is_over = True
            again = elsewhere(here.context.settings, tmp_path / "another")
            other = await end.enter_async_context(bot_service.opened(again, print))
            await here.loop.release()
            here.loop = other
        open_ones = {first[0]} if declines else set() if resolve else {first[2]}
        await here.until(lambda: len(answers(here)) == len(first))
        await here.until(
            lambda: (
                {e.id for e in lines_of(here) if not e.begins and not e.is_resolved}
                == open_ones
            )
        )
        await here.swept(3)

        said = {e.begins: e.body.splitlines()[-1] for e in lines_of(here) if e.begins}
        left = {first[0]: "Not changed: `it is right`"} if declines else {}
        assert said == dict.fromkeys(first, f"Done in {made}.") | left
        assert len(answers(here)) == len(first)
        for content in (b"1\n2\na\n", b"1\n2\nb\n") if declines else ():
            await here.reviewed("COMMENT", by[1], comments=on(2, f"{by[1]} asks."))
            await here.until(lambda: here.task(1).state != "needs-review")
            if here.task(1).state == "queued":
                await here.worked(1, {**FILES, "one.py": content})
        if declines:
            assert here.task(1).state == "blocked"
            assert "keeps asking for the same change in one.py" in here.task(1).why


@pytest.mark.room(LISTED, delivered=True, extend=github)
async def test_an_attempt_that_declines_all_leaves_the_work(here: Room) -> None:
    made = await here.worked(1, FILES)
    await here.reviewed(
        "COMMENT", here.let_in("coder[bot]", "read"), comments=on(1, "Use tabs.")
    )
    await here.until(lambda: here.task(1).state == "queued")
    await here.started(1, run=77)
    (thread,) = lines_of(here)

    why = {"declined": [f"{thread.id} the style guide wants spaces"]}
    task = await handed_in(here, **NOOP, accepted=None, left=why)
    await here.until(lambda: answers(here) != [])
    await here.swept(3)

    assert task.state == "needs-review"
    assert here.tip(task_branch(NAME, 1)) == made
    assert answers(here) == ["Not changed: `the style guide wants spaces`"]
    assert not lines_of(here)[0].is_resolved
