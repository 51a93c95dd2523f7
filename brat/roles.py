"""Running the loop with some roles in local mode, and saying what comes next."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from msgspec.structs import replace

from bot.loop import Loop
from bot.serving import service
from brat.checkout import Checkout
from brat.console import Tell
from brat.local import Local, serving
from convoy.actions import Role, Show, role_of
from convoy.events import PLANNER, EngineSpec
from convoy.kinds import is_done
from convoy.plan import plan
from convoy.queue import startable
from convoy.rivals import is_stopped
from convoy.state import Convoy, State
from convoy.text.nearest import did_you_mean
from grite.errors import BratError, Unavailable

OK: Final = 0
BLOCKED: Final = 1
TIMED_OUT: Final = 3

Work = Callable[[Local], Awaitable[None]]


async def run(
    checkout: Checkout, roles: tuple[Role, ...], tell: Tell, *, once: bool
) -> int:
    """Run the roles until they owe nothing, or for one tick; return the exit status."""
    async with serving(checkout, roles, tell) as local:
        if once:
            await local.loop.tick()
        else:
            await until_done(local)
        return report(local)


async def watch(
    checkout: Checkout,
    roles: tuple[Role, ...],
    tell: Tell,
    *,
    beside: Callable[[Local], AbstractAsyncContextManager[None]] = lambda _: (
        nullcontext()
    ),
    executor: tuple[str, ...] = (),
) -> None:
    """Run the roles until interrupted; new commits and issues are taken up.

    Args:
        checkout: the repository.
        roles: what the loop does.
        tell: is told each change.
        beside: what is open as long as the loop runs.
        executor: what runs jobs, when it is not our own; see `brat.executors`.
    """
    async with serving(checkout, roles, tell, executor) as local, beside(local):
        tell(f"watching {checkout.top}; stop with Ctrl-C")
        while True:
            await until_done(local)
            await local.loop.wake.wait(local.loop.desk.settings.sweep_s)
            await asyncio.to_thread(local.intake.take_up)


async def until_done(local: Local) -> None:
    """Tick until the roles owe nothing, telling each change of a task.

    Raises:
        BratError: the forge keeps refusing the same thing.
    """
    news = News(local.tell)
    news.skip(local.reader().read())

    def seen() -> None:
        news.tell(local.loop.desk.mirror.state)
        if not local.forge_alive():
            log = local.checkout.folder / "forge.log"
            raise Unavailable(f"the local forge ended: see {log}; nothing is lost")

    await service.until_done(local.loop, seen=seen)


class News:
    """Tells a person what changed, one line a change."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._known: dict[tuple[str, int], tuple[str, int]] = {}

    def skip(self, state: State) -> None:
        """Take what is so already for known."""
        for convoy in state.convoys.values():
            self._changed((convoy.name, 0), (convoy.state, 0))
            for task in convoy.tasks:
                self._changed((convoy.name, task.number), (task.state, task.started))

    def tell(self, state: State) -> None:
        """Say what is not as it was at the last call."""
        for convoy in state.convoys.values():
            if self._changed((convoy.name, 0), (convoy.state, 0)):
                why = f": {convoy.why}" if convoy.why else ""
                self._tell(f"{convoy.name} is {convoy.state}{why}")
            for task in convoy.tasks:
                now = (task.state, task.started)
                if self._changed((convoy.name, task.number), now):
                    why = f" ({' '.join(task.why.split())[:120]})" if task.why else ""
                    self._tell(
                        f"  task {task.number} {task.state}{why}: {task.spec.title}"
                    )

    def _changed(self, key: tuple[str, int], now: tuple[str, int]) -> bool:
        was, self._known[key] = self._known.get(key), now
        return was != now


def report(local: Local) -> int:
    """Say what comes next; return 1 when something is blocked, failed or refused."""
    stuck = _stuck(local)
    if local.intake.has_news():
        local.tell(f"landed; bring it into your checkout with: {local.pull_line()}")
    if command := next_command(local.loop, local.loop.desk.mirror.state):
        local.tell(f"next: {command}")
    return BLOCKED if stuck else OK


def _stuck(local: Local) -> bool:
    """Say what needs a person; return whether anything does."""
    desk, tell = local.loop.desk, local.tell
    blocked = [
        (convoy, task)
        for convoy in desk.mirror.state.live()
        for task in convoy.tasks
        if is_stopped(convoy, task)
    ]
    for convoy, task in blocked:
        tell(f"{convoy.name}: task {task.number} is blocked: {task.why}")
        tell(f"  once that is put right: brat task retry {task.number}")
    for why in desk.troubles.values():
        tell(why)
    failed = any(
        convoy.state == "failed" and convoy.ended_at >= local.begun_at
        for convoy in desk.mirror.state.convoys.values()
    )
    return bool(blocked or desk.troubles or failed)


def next_command(loop: Loop, state: State) -> str | None:
    """Return the command whose role has something to do now; None: nobody's."""
    desk = loop.desk
    observed = replace(desk.observed, refs=desk.mirror.refs)
    owed = plan(state, observed, desk.settings.pace, desk.clock())
    for action in owed:
        role = role_of(action)
        if role is not None and not isinstance(action, Show):
            return f"brat {role} run" if role != "mayor" else "brat up"
    if any(True for _ in state.running()) or _startable(state):
        return "brat witness run"
    if any(task.state == "needs-review" for c in state.live() for task in c.tasks):
        return "brat refinery run"
    return None


def _startable(state: State) -> bool:
    return any(startable(c, task) for c in state.live() for task in c.tasks)


def finished(convoy: Convoy) -> int:
    """Return the exit status that a convoy's end stands for."""
    whole = convoy.state == "complete" and all(
        is_done(convoy, task) for task in convoy.tasks
    )
    return OK if whole else BLOCKED


def require_engines(
    engines: Mapping[str, EngineSpec], known: frozenset[str], planners: frozenset[str]
) -> None:
    """Check that every configured engine can be driven, and the planner is there.

    Raises:
        BratError: one cannot; it says which, and what can.
    """
    for name, engine in engines.items():
        if engine.type.startswith(PLANNER):
            _require_planner(engine.type.removeprefix(PLANNER), planners)
        elif engine.type not in known:
            raise BratError(
                f'[engine.{name}] type = "{engine.type}" cannot be driven here; known: '
                f"{', '.join(sorted(known))}{did_you_mean(engine.type, known)}"
            )


def _require_planner(name: str, known: frozenset[str]) -> None:
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise BratError(
            f'[mayor] planner = "{name}" is not installed here; there is: {listed}'
            f"{did_you_mean(name, known)}"
        )
