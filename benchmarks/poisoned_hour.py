"""An hour of the bot's clock with something poisoned of each kind, and one without.

These are poisoned: two comments on an issue, the branch of a convoy, a command on an
issue that is gone, the result of a run, and a convoy for which a rule fails. Bounds:
six tries of each in the hour, and a try of a command or a result has two requests, so
48 requests and pushes more than without; and the rules of the target are read every ten
minutes while a convoy is under way, which is 24 more. At most two commits of the log a
try, and one line a try.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

from benchmarks.fleet import Load, project
from benchmarks.forge_cost import counting
from bot import wall_clock
from bot.door.inbox import Inbox, Remark
from bot.loop.loop import Loop
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Call, Extension
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Source
from convoy.model.state import Convoy
from convoy.owed import Action, owed
from convoy.rules.observed import Observed
from grite import git

MINUTES, MINUTE_MS = 60, 60_000
TRIES = 8 * 6 + 6 * 4
BRANCH = "refs/heads/convoy/second-2/base"
HOOK = f"#!/bin/sh\n[ $1 != {BRANCH} ]\n"
COMMENTS = "issues/1/comments"
RULE = "_foundations"
"""A rule of `convoy.owed.owed`."""
GONE = Remark(issue=28, comment=999, text="/brat ping", by="you", on_pull=False)


def poisoned_hour(folder: Path, _: int) -> dict[str, object]:
    """Count an hour with what is refused, and one without."""
    source = project(folder / "source", Load(seconds=[0.0], slots=2))
    calm = asyncio.run(_hour(folder / "calm", source, poisoned=False))
    with failing("fourth-4"):
        poisoned = asyncio.run(_hour(folder / "poisoned", source, poisoned=True))
    return {
        **{f"{name}_calm": calm[name] for name in sorted(calm | poisoned)},
        **{f"{name}_poisoned": poisoned[name] for name in sorted(calm | poisoned)},
        "more_allowed": TRIES,
    }


@dataclass(kw_only=True)
class Poison:
    """What the forge refuses, and how often it is asked for anything."""

    on: bool
    counts: Counter[str] = field(default_factory=Counter)
    _result: str = ""
    """The result that is withheld: the first that somebody asks for."""

    def guard(self, call: Call) -> dict[str, str]:
        """Count a call, and refuse what is poisoned.

        Raises:
            Refused: it is.
        """
        self.counts["requests"] += 1
        method, path = call.request.method, call.request.path
        if self.on and method == "POST" and path.endswith(COMMENTS):
            self.counts["refused_comments"] += 1
            raise Refused(403, "No comments here.")
        if self.on and path.endswith("/artifacts"):
            self._result = self._result or path
            if path == self._result:
                self.counts["refused_results"] += 1
                raise Refused(403, "No results here.")
        return {}


async def _hour(folder: Path, source: Path, *, poisoned: bool) -> Counter[str]:
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    poison = Poison(on=poisoned)
    counts = poison.counts
    extension = Extension(guards=(poison.guard,))
    with Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge, extend=lambda _: extension) as url:
            bare = registrations.bare_path(folder, known)
            if poisoned:
                _refuse_the_branch(bare)
                Inbox(folder / BOT_FOLDER / "inbox").put("gone", GONE)
            async with local_mode.person(url, known) as github:
                for title in ("First", "Second", "Third", "Fourth"):
                    issue = await github.open_issue(title, "- [ ] one\n")
                    await github.relabel(issue, {"brat"}, set())
            settings = local_mode.bot_settings(folder, known, url)
            lines: list[str] = []
            async with (
                bot_service.opened(settings, lines.append) as loop,
                bot_service.door(loop, 0) as port,
            ):
                await local_mode.point_hook(url, known, port)
                await bot_service.until_done(loop)
                counts.clear()
                told, commits = len(lines), _commits(bare)
                with counting(folder / BOT_FOLDER / "mirror.git") as git_calls:
                    await _pass(loop)
    counts["pushes"] = git_calls["push"]
    counts["log_commits"] = _commits(bare) - commits
    counts["lines"] = len(lines) - told
    return counts


@contextmanager
def failing(name: str) -> Iterator[None]:
    """Let one rule fail for the convoy of this name; empty: for none."""
    sound = vars(owed)[RULE]

    def faulty(convoy: Convoy, observed: Observed) -> Iterator[Action]:
        if convoy.name == name:
            raise LookupError("a rule that fails")
        yield from sound(convoy, observed)

    with patch.object(owed, RULE, faulty):
        yield


async def _pass(loop: Loop) -> None:
    """Let the hour pass by the bot's clock, with a full look each minute."""
    for minute in range(1, MINUTES + 1):
        loop.context.clock = partial(_later, minute)
        loop.wake.all()
        await bot_service.tick(loop)


def _later(minutes: int) -> int:
    return wall_clock() + minutes * MINUTE_MS


def _refuse_the_branch(bare: Path) -> None:
    hook = bare / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o700)


def _commits(bare: Path) -> int:
    """Return how many commits the log has."""
    said = git.run(["rev-list", "--count", "refs/grite/wal"], cwd=bare).stdout
    return int(said)
