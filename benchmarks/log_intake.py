"""Fifty results, by one bot's push or by fifty writers' pushes to one shared log.

All have the same events, twenty a result, and the same commits; all push over HTTP to
the same kind of forge, and all keep everything.
"""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

import pygit2

from benchmarks import grite_protocol, log_place
from benchmarks.log_place import BEGUN_MS, EVENTS, NAME, RESULTS, Place, Result
from bot.loop.pushing import BotLease
from bot.repository.draft import Draft
from bot.repository.mirror import Mirror
from brat.local import forge_process
from brat.repository.registration import FORGE_FOLDER
from convoy.events import Command
from convoy.events.leases import StartBot
from convoy.events.plan_events import ConvoyRequested
from convoy.model.records import EngineSpec, Settings, TaskSpec
from convoy.rules.ending import AcceptWork
from convoy.rules.plans import PlanConvoy
from convoy.rules.starting import StartTask
from grite import git
from grite.errors import Conflict
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.world.log_keys import open_mirror

ACTOR: Final = bytes(range(16))
WAITS_S: Final = (0.1, 10.0)
"""A writer's first wait before it tries again, and the longest; drawn up to that."""
PATIENCE_S: Final = 30.0
"""For the fifty at once, who else would take minutes."""


def results(folder: Path, repeats: int) -> dict[str, object]:
    """Take in and push fifty results: one writer against fifty.

    The fifty at once are stopped after a while, and how many were done by then is
    counted. Fifty that come one after another, as if they knew of each other, never
    meet: the least that fifty pushes can take.
    """
    ours, in_turn = [], []
    for number in range(repeats):
        ours.append(_measured(folder / f"ours-{number}", _by_one)[1])
        in_turn.append(_measured(folder / f"in-turn-{number}", _in_turn)[1])
    done, at_once = _measured(folder / "at-once", _at_once)
    ratios = [theirs / mine for mine, theirs in zip(ours, in_turn, strict=True)]
    return {
        "results": RESULTS,
        "events_each": EVENTS,
        "one_writer_s": [round(seconds, 2) for seconds in ours],
        "fifty_writers_at_once_s": round(at_once, 2),
        "of_them_done_by_then": done,
        "fifty_writers_one_after_another_s": [round(s, 2) for s in in_turn],
        "ratio_at_once_at_least": round(at_once / median(ours), 1),
        "ratio_one_after_another_median": round(median(ratios), 1),
        "ratio_aim": 10,
    }


def _measured(folder: Path, how: Callable[[Place, str], float]) -> tuple[int, float]:
    """Return how many results arrived, whole, and how long it took."""
    place = log_place.make(folder)
    served = forge_process.forge(folder / FORGE_FOLDER, 0, log=folder / "forge.log")
    with served as (url, _):
        wall_s = how(place, place.url(url))
    repo, log = pygit2.Repository(str(place.bare)), Log(place.bare)
    arrived = [result for result in place.results if result.branch in repo.references]
    kept = {e.id for entry in log.read(str(log.head())) for e in entry.events}
    for result in arrived:
        assert str(repo.references[result.branch].target) == result.commit
        assert {event.id for event in result.events} <= kept, "an event is lost"
    assert len(arrived) == RESULTS or how is _at_once
    return len(arrived), wall_s


# --- one bot --------------------------------------------------------------------------


def _by_one(place: Place, url: str) -> float:
    mirror = open_mirror(place.folder / "mirror.git", url, place.known.bot_token)
    mirror.look()
    lease = BotLease(mirror, ACTOR, sole=True)
    _begin(mirror, lease, place.base)
    begun = time.perf_counter()
    mirror.look()
    draft = Draft(mirror, ACTOR, BEGUN_MS + 60_000)
    for result in place.results:
        mirror.take_in(result.bundle, f"{NAME}/{result.number}/1")
        draft.claim(result.events)
        accept = AcceptWork(
            convoy=NAME,
            task=result.number,
            attempt=1,
            commit=result.commit,
            base=place.base,
            files=(f"{result.number}.txt",),
        )
        assert draft.submit(accept) is None
        draft.move(result.branch, result.commit)
    draft.push(lease.renewed(draft.now))
    return time.perf_counter() - begun


def _begin(mirror: Mirror, lease: BotLease, base: str) -> None:
    """Push what leads to fifty running sessions."""
    draft = Draft(mirror, ACTOR, BEGUN_MS)
    for command in _beginning(base):
        refused = draft.submit(command)
        assert refused is None, refused
    update = lease.renewed(BEGUN_MS)
    draft.push(update)
    lease.pushed(update)


def _beginning(base: str) -> list[Command]:
    engine = EngineSpec(type="shell", args=("true",), max_sessions=RESULTS)
    numbers = range(1, RESULTS + 1)
    request = ConvoyRequested(
        convoy=NAME,
        issue=1,
        title="Fifty",
        text="All of it.",
        by="you",
        target="main",
        base=base,
        settings=Settings(
            engines={"default": engine}, tasks=RESULTS, max_sessions=RESULTS
        ),
    )
    tasks = tuple(
        TaskSpec(number=n, title=f"Task {n}", instructions="Do it.") for n in numbers
    )
    starts = [
        StartTask(
            convoy=NAME,
            task=n,
            base=base,
            session=f"{n:032x}",
            nonce=f"{n:016x}",
            now=BEGUN_MS,
        )
        for n in numbers
    ]
    plan = PlanConvoy(convoy=NAME, planner="test", tasks=tasks)
    return [StartBot(actor=ACTOR.hex(), version="0"), request, plan, *starts]


# --- fifty writers --------------------------------------------------------------------


def _at_once(place: Place, url: str) -> float:
    remotes = _remotes(place, url)
    begun = time.perf_counter()
    pairs = zip(place.results, remotes, strict=True)
    children = [_forked(result, remote) for result, remote in pairs]
    for child in children:
        _wait(child)
    return time.perf_counter() - begun


def _in_turn(place: Place, url: str) -> float:
    remotes = _remotes(place, url)
    begun = time.perf_counter()
    for result, remote in zip(place.results, remotes, strict=True):
        _wait(_forked(result, remote))
    return time.perf_counter() - begun


def _remotes(place: Place, url: str) -> list[Remote]:
    """Give each writer a clone with its work in it."""
    found = []
    for result in place.results:
        path = place.folder / f"{result.number}.git"
        ensure_mirror(path)
        fetch = ["fetch", "--quiet", str(place.folder / "work"), f"+{result.commit}"]
        git.run([*fetch, place.base], cwd=path)
        found.append(Remote(url, path, place.known.bot_token))
    return found


def _wait(child: int) -> None:
    _, status = os.waitpid(child, 0)
    assert status == 0


def _forked(result: Result, remote: Remote) -> int:
    child = os.fork()
    if child == 0:
        _write_alone(result, remote)
        os._exit(0)
    return child


def _write_alone(result: Result, remote: Remote) -> None:
    """Log and push as grite's documents say: fetch, write again, push, wait, again.

    grite itself does not try again, and its push of a log that moved never succeeds.
    """
    repo = pygit2.Repository(str(remote.mirror))
    spread = random.Random(result.number)  # noqa: S311  it only spreads the tries
    wait_s, longest_s = WAITS_S
    given_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < given_up:
        try:
            _push_alone(repo, result, remote)
        except Conflict:
            time.sleep(spread.uniform(0, wait_s))
            wait_s = min(longest_s, 2 * wait_s)
        else:
            return


def _push_alone(repo: pygit2.Repository, result: Result, remote: Remote) -> None:
    seen = remote.refs([WAL_REF]).get(WAL_REF)
    remote.fetch([seen] if seen else [])
    head = seen
    for event in result.events:
        head = grite_protocol.write(repo, event, head, None)
    branch = RefUpdate(result.branch, result.commit, None)
    remote.push([RefUpdate(WAL_REF, head, seen), branch])
