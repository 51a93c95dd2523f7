"""What brat asks of GitHub for teams is cut off, and refused, once each: all ends well.

Sub-issues that wait for each other are planned and landed, another plan is written back
as sub-issues, a review bot's thread is answered, and a person's pull requests land:
one as brat asks, one by the forge's own queue.
The bot looks, and hears nothing; its clock is moved on while something is set aside.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from inline_snapshot import snapshot

from bot import wall_clock
from bot.forge.transport import Ask, HttpReply, Wire
from bot.serving import bot_service
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.views import state_document
from tests.bot.hosted import elsewhere
from tests.bot.requests.test_given_pulls import given, is_merged, opened as pull_of
from tests.bot.requests.test_review_threads import FILES, lines_of, on
from tests.bot.roles.test_sub_issues import blocked, opened
from tests.bot.room import HEADS, REPO, Room, room
from tests.contract.openapi import github as contract
from tests.whole.crash import Died
from tests.world.forge_rules import merge_queue, pull_request, put_ruleset
from tests.world.github_forge.extension import github
from tests.world.layers import sampled
from tests.world.traffic import Exchange

CONFIG: Final = """\
[refinery]
checks = ["ci"]
[mayor]
sub_issues = true
[review]
bots = ["coder[bot]"]
"""
CALLS: Final = (
    "GET issues/N/sub_issues",
    "GET issues/SUB/dependencies/blocked_by",
    "POST issues/N/sub_issues",
    "POST issues",
    "POST issues/SUB/labels",
    "DELETE issues/SUB/labels",
    "PATCH issues/SUB",
    "GET pulls/N/reviews",
    "QUERY reviewThreads",
    "POST pulls/N/comments/N/replies",
    "CHANGE resolveReviewThread",
    "PUT pulls/N/merge",
    "CHANGE enqueuePullRequest",
)
"""What brat asks for teams; a test below holds that each is asked."""
STATUSES: Final = (403, 404, 410, 422, 502)
QUIET: Final = {
    "GET issues/N/sub_issues": (410, 502),
    "GET issues/SUB/dependencies/blocked_by": (410, 502),
    "DELETE issues/SUB/labels": (404, 502),
    "QUERY reviewThreads": (404, 410, 502),
}
"""What needs no person: what failed is asked again at once (502), what is gone is
looked for again, and a label that is not there need not be taken off."""
SAID: Final = "The story does not want it"
TICKS: Final = 60
MINUTE_MS: Final = 61_000
LANDING: Final = {
    ("PUT pulls/N/merge", "after"),
    ("CHANGE resolveReviewThread", 403),
}
"""What CI looks at on each change."""

pytestmark = [pytest.mark.timeout(240)]


@dataclass
class Fate:
    """What befalls the first call of a shape, and all that was asked."""

    shape: str = ""
    """One of `CALLS`; empty: nothing happens."""
    befalls: str | int = 0
    """`before` or `after`, when the bot dies, or the status that it is answered."""
    subs: set[int] = field(default_factory=set)
    met: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    is_armed: bool = False
    has_struck: bool = False

    def shape_of(self, ask: Ask) -> str:
        path = ask.about.partition("?")[0].partition(f"/repos/{REPO}/")[2]
        if not path:
            asked = json.loads(ask.body or b"{}").get("query", "")
            found = re.search(r"reviewThreads|mutation[^{]*\{\s*(\w+)", asked)
            if found is None:
                return ""
            return f"CHANGE {found[1]}" if found[1] else f"QUERY {found[0]}"
        number = re.match(r"issues/(\d+)", path)
        if number and int(number[1]) in self.subs:
            path = path.replace(number[1], "SUB", 1)
        path = re.sub(r"(?<=/)\d+(?=/|$)", "N", path)
        return f"{ask.method} {re.sub('labels/.*', 'labels', path)}"

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what the bot asks while it ticks."""
        send = Wire.send

        async def struck(wire: Wire, ask: Ask, token: str) -> HttpReply:
            shape = self.shape_of(ask) if self.is_armed else ""
            self.met.add(shape)
            if not shape or shape != self.shape or self.has_struck:
                return await send(wire, ask, token)
            self.has_struck = True
            if isinstance(self.befalls, int):
                body = json.dumps({"message": f"{SAID}."}).encode()
                headers = {"content-type": "application/json"}
                return HttpReply(self.befalls, headers, body)
            if self.befalls == "after":
                await send(wire, ask, token)
            raise Died

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Wire, "send", struck)
            yield

    def judge(self, exchange: Exchange) -> None:
        """Hold an exchange against GitHub's description."""
        if exchange.path.startswith(f"/repos/{REPO}/"):
            self.faults += contract().faults(exchange)


@dataclass(frozen=True)
class End:
    convoys: tuple[tuple[str, ...], ...]
    """State of each, and of its tasks, with the number of attempts."""
    issues: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Title, state and labels of each."""
    lines: tuple[tuple[str, bool], ...]
    """What was said of lines, and whether its thread is resolved."""
    merged: int


@dataclass
class Tale:
    here: Room
    fate: Fate
    folder: Path
    bots: AsyncExitStack
    skew_ms: int = 0
    is_judging: bool = False
    """Whether CI has ended: it is green on all that is built."""
    told: str = ""
    """Where people were told of what was refused."""

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the bot look until it is so."""
        for _ in range(TICKS):
            if condition():
                return
            await self._tick()
        raise AssertionError(state_document(self._state, self.now()))

    async def worked(self, number: int, files: dict[str, bytes]) -> None:
        """Let an attempt hand in a commit with these files."""
        await self._armed(self.here.worked(number, files))
        self._listen()

    async def _armed(self, doing: Awaitable[object]) -> None:
        """Let the bot do something; where it dies of it, another one goes on."""
        self.fate.is_armed = True
        try:
            await doing
        except BaseException as end:
            group = end if isinstance(end, BaseExceptionGroup) else None
            if not isinstance(end, Died) and not (group and group.subgroup(Died)):
                raise
            await self._start_another()
        finally:
            self.fate.is_armed = False

    async def _tick(self) -> None:
        here = self.here
        here.loop.wake.all()
        await self._armed(here.loop.tick())
        self._listen()
        if self._state.set_aside or here.loop.context.troubles:
            self.skew_ms += MINUTE_MS
        state = "success" if self.is_judging else "pending"
        for convoy in [*self._state.live()]:
            for one in (convoy.candidate, *(task.candidate for task in convoy.tasks)):
                if one is not None:
                    said = {"context": "ci", "state": state, "description": "ok"}
                    await here.asked("POST", f"statuses/{one.commit}", said)

    async def _start_another(self) -> None:
        """Start a bot on another machine; the dead one's lease runs out."""
        here = self.here
        again = elsewhere(here.loop.context.settings, self.folder)
        other = await self.bots.enter_async_context(bot_service.opened(again, print))
        await here.loop.release()
        here.loop = other
        other.context.clock = self.now
        await other.tick()

    def _listen(self) -> None:
        context = self.here.loop.context
        found = [each.why for each in self._state.set_aside.values()]
        found += [str(each) for each in context.troubles.values()]
        self.told = self.told or next((each for each in found if SAID in each), "")

    @property
    def convoys(self) -> list[Convoy]:
        return [*self._state.convoys.values()]

    @property
    def waits(self) -> bool:
        """Whether something is left to do."""
        context = self.here.loop.context
        return bool(self._state.set_aside or self._state.intents or context.troubles)

    @property
    def _state(self) -> State:
        return self.here.loop.context.mirror.state

    def now(self) -> int:
        return wall_clock() + self.skew_ms

    def end(self) -> End:
        store = self.here.forge.store
        keys = Counter(
            key
            for body in (
                *(each.body for each in store.comments.all()),
                *(each.body for each in lines_of(self.here)),
            )
            for key in ids.keys_in(body)
        )
        assert max(keys.values()) == 1, f"said twice: {keys}"
        issues = [each for each in store.issues.all() if not each.pull]
        return End(
            convoys=tuple(
                (each.state, *(f"{t.state} {t.started}" for t in each.tasks))
                for each in self._state.convoys.values()
            ),
            issues=tuple(
                (each.title, each.state, tuple(sorted(self.here.labels(each.number))))
                for each in sorted(issues, key=lambda one: one.title)
            ),
            lines=tuple(
                (re.sub("[0-9a-f]{40}", "SHA", each.body.splitlines()[-1]), done)
                for each in lines_of(self.here)
                for done in [each.is_resolved]
            ),
            merged=sum(p.merged_at is not None for p in store.pulls.all()),
        )


@asynccontextmanager
async def tale(folder: Path, fate: Fate) -> AsyncIterator[Tale]:
    def ruled(service: Service) -> Extension:
        put_ruleset(service.forge, pull_request(), repo=REPO)
        queued = (pull_request(), merge_queue())
        on = {"ref_name": {"include": [f"{HEADS}next"], "exclude": []}}
        put_ruleset(service.forge, *queued, repo=REPO, conditions=on)
        return github(service)

    opened_room = room(
        folder / "first", CONFIG, labelled=False, observe=fate.judge, extend=ruled
    )
    async with opened_room as here, AsyncExitStack() as bots:
        told = Tale(here, fate, folder / "another", bots)
        here.loop.context.clock = told.now
        with fate.watching():
            yield told


async def story(folder: Path, fate: Fate) -> tuple[End, str]:
    """Play it all; return how it ends, and what was told of a refusal."""
    kept = {**FILES, ".brat/config.toml": CONFIG.encode()}
    async with tale(folder, fate) as told:
        here = told.here
        await here.push(f"{here.tip('main')}:{HEADS}next")
        first = await opened(here, "First", here.issue)
        second = await opened(here, "Second", here.issue)
        await blocked(here, second, first)
        fate.subs |= {first, second}
        other = await here.person.open_issue("Do more", "- [ ] Three\n- [ ] Four\n")
        for each in (here.issue, other):
            await here.person.relabel(each, {"brat"}, set())
        await told.until(lambda: [len(c.named) for c in told.convoys] == [2, 2])
        await told.until(lambda: here.labels(second) == {"brat:queued"})

        await told.worked(1, kept)
        await told.until(lambda: here.task(1).pull)
        bot = here.let_in("coder[bot]", "read")
        await here.reviewed("COMMENT", bot, comments=on(2, "Say 2."))
        await told.until(lambda: here.task(1).state == "queued")
        await told.worked(1, {**kept, "one.py": b"one\n2\nthree\n"})
        await told.until(lambda: lines_of(here)[0].is_resolved)
        told.is_judging = True
        await told.until(lambda: here.task(1).state == "merged")
        await told.worked(2, {**kept, "one.py": b"one\n2\n3\n"})
        await told.until(lambda: here.convoy.ended)

        pull = await pull_of(here, "more", {"more.py": b"more\n"})
        other = await pull_of(here, "other", {"o.py": b"o\n"}, base="next")
        for each in (pull, other):
            await here.written(each, "/brat land", "you")
        for each in (pull, other):
            await told.until(lambda: is_merged(here, each))  # noqa: B023
            await told.until(lambda: given(here, each).ended)  # noqa: B023
        await told.until(lambda: not told.waits)
        return told.end(), told.told


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[End, Fate]:
    fate = Fate()
    end, _ = asyncio.run(story(tmp_path_factory.mktemp("calm"), fate))
    return end, fate


@pytest.mark.layer("landing")
def test_undisturbed_all_of_it_lands(calm: tuple[End, Fate]) -> None:
    end, fate = calm

    assert {*CALLS} <= fate.met
    assert fate.faults == [], "GitHub does not describe it so"
    assert end == snapshot(
        End(
            convoys=(
                ("active", "queued 0", "queued 0"),
                ("complete", "merged 2", "merged 1"),
                ("complete", "merged 0"),
                ("complete", "merged 0"),
            ),
            issues=(
                ("Do it", "closed", ("brat:complete",)),
                ("Do more", "open", ("brat:active",)),
                ("First", "closed", ("brat:merged",)),
                ("Four", "open", ("brat:queued",)),
                ("Second", "closed", ("brat:merged",)),
                ("Three", "open", ("brat:queued",)),
            ),
            lines=(("Say 2.", True), ("Done in SHA.", False)),
            merged=5,
        )
    )


@pytest.mark.parametrize(
    ("shape", "befalls"),
    sampled(product(CALLS, ("before", "after", *STATUSES)), LANDING),
)
async def test_a_call_that_is_cut_off_or_refused_is_made_again_once_and_told_of(
    shape: str, befalls: str | int, tmp_path: Path, calm: tuple[End, Fate]
) -> None:
    fate = Fate(shape, befalls)
    end, told = await story(tmp_path, fate)

    assert fate.has_struck
    assert end == calm[0]
    if isinstance(befalls, int):
        assert told or befalls in QUIET.get(shape, (502,)), "nobody is told"
