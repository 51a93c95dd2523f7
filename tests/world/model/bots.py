"""What happens to bots: they tick, die, are deaf, raced, refused and doubled."""

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.settings.bot_settings import ROLES
from convoy.log.record import fold
from convoy.model.state import State
from grite import chunk
from tests.world.model.drawn import chosen, which
from tests.world.model.forge import LOCK, MAIN, Bar, Died, Fuse
from tests.world.model.story import ACTORS, Story

MISHAPS: Final = (
    *("none", "none", "dies", "dies", "misses the answer", "is raced"),
    *("is refused", "has one role", "forgets", "has a rival", "sleeps"),
)
REMEMBERING: Final = ("none", "is refused", "has one role")
MINUTES: Final = (1, 11, 45, -60)
KINDS: Final = ("dispatch", "pull", "comment", "label")
BARRED: Final = (
    *(*KINDS, "edit", "finish", "cancel"),
    *("/convoy/{convoy}/task-", "/convoy/{convoy}/base", "/attempts/{convoy}/"),
    *("/brat/queue/convoy--{convoy}--base/", "/brat/queue/main/", MAIN),
)
"""Kinds of writes, and parts of the names of refs."""


@dataclass(frozen=True)
class Mishap:
    """What happens to the bot around its next tick, and at which moment."""

    kind: str
    moment: int


mishaps = st.builds(Mishap, st.sampled_from(MISHAPS), st.integers(0, 9))


class Bots(Story):
    """Rules of bots; `react` is what other rules end with."""

    @rule(mishap=mishaps)
    def the_bot_ticks(self, mishap: Mishap) -> None:
        self.react(mishap)

    def react(self, mishap: Mishap) -> None:
        """Let the bot tick, with a mishap before it or in its midst."""
        self._prepare(mishap)
        if mishap.kind not in REMEMBERING:
            self.forge.tries.clear()  # the bot may not know what it tried just now
        one = (chosen(ROLES, mishap.moment),)
        try:
            self.bot.tick(roles=one if mishap.kind == "has one role" else ROLES)
        except Died:
            self._start_anew()
        if mishap.kind not in REMEMBERING:
            self.forge.tries.clear()
        self.forge.fuse, self.forge.refused = None, ""

    @rule(what=st.sampled_from(BARRED), named=st.booleans(), number=which)
    @precondition(lambda self: self.forge.bar is None)
    def the_forge_begins_to_refuse(
        self, what: str, number: int, *, named: bool
    ) -> None:
        convoys = [convoy.name for convoy in self.forge.state.live()] or ["none"]
        convoy = chosen(convoys, number)
        whose = convoy if "{convoy}" in what else ""
        self.forge.bar = Bar(what.format(convoy=convoy), named, whose)
        self.forge.tries.clear()

    @rule()
    @precondition(lambda self: self.forge.bar is not None)
    def the_forge_refuses_no_more(self) -> None:
        self.forge.bar = None
        self.saw("refusal lifted")

    def _prepare(self, mishap: Mishap) -> None:
        forge, moment = self.forge, mishap.moment
        match mishap.kind:
            case "dies":
                forge.fuse = Fuse(moment)
            case "misses the answer":
                forge.fuse = Fuse(moment, "misses the answer")
            case "is raced":
                forge.fuse = Fuse(moment // 3, "is raced", self._race)
            case "is refused":
                forge.refused = chosen(KINDS, moment)
            case "forgets":
                self._start_anew()
            case "has a rival":
                self._let_the_rival_act()
            case "sleeps":
                forge.now += chosen(MINUTES, moment) * 60_000
            case _:
                pass

    def _race(self) -> None:
        if self.forge.now % 2_000:
            self.push(next(iter(self.bases()), MAIN), "good")
        else:
            self.forge.tries.clear()  # the rival does not know what was tried
            self.rival.tick()
            self.forge.tries.clear()

    def _start_anew(self) -> None:
        """Fold the log from nothing, out of its bytes; it must say what was."""
        state = State()
        for entry in self.forge.log:
            read = chunk.decode(chunk.encode(entry.events))
            assert not read.faults
            state = fold(state, entry.commit, read.events, entry.actor)
        assert state == self.forge.state
        self.bot = self.new_bot(ACTORS[0])
        assert self.bot.mirror.state == state

    def _let_the_rival_act(self) -> None:
        """Of two bots the one that looked before the other wrote changes nothing."""
        forge, rival = self.forge, self.rival
        stale = rival.mirror.refs.get(LOCK) != forge.refs.get(LOCK)
        before = self._made()
        rival.tick(look=False)
        if stale:
            assert self._made() == before, "a bot with an old view did something"
            self.saw("a stale bot acts")
        self.rival = self.new_bot(ACTORS[1])

    def _made(self) -> object:
        """Return all that bots have made of the forge."""
        forge = self.forge
        made = (len(forge.runs), len(forge.pulls), dict(forge.comments))
        return dict(forge.refs), len(forge.log), made
