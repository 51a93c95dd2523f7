"""An hour of the bot's clock with refused comments and a refused branch, and without.

Four things are refused: two comments on an issue, the branch of a convoy, and a command
on an issue that is gone. Bounds: six tries of each in the hour, and a try of a command
has two requests, so 30 requests and pushes more than without; at most two commits of
the log a try, and one line a try.
"""

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

from benchmarks.fleet import Load, project
from benchmarks.forge_cost import counting
from bot.door.delivery_inbox import Inbox, Remark
from bot.loop.loop import Loop
from bot.serving import bot_service
from bot.settings.clock import wall_clock
from brat.forge.http_server import serving
from brat.forge.rest.rest_call import Call, Extension
from brat.forge.storage.forge_state import Forge
from brat.forge.wire.http_refusals import Refused
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Source
from grite import git

MINUTES, MINUTE_MS = 60, 60_000
TRIES = 5 * 6
BRANCH = "refs/heads/convoy/second-2/base"
HOOK = f"#!/bin/sh\n[ $1 != {BRANCH} ]\n"
COMMENTS = "issues/1/comments"
GONE = Remark(issue=28, comment=999, text="/brat ping", by="you", on_pull=False)


def poisoned_hour(folder: Path, _: int) -> dict[str, object]:
    """Count an hour with what is refused, and one without."""
    source = project(folder / "source", Load(seconds=[0.0], slots=2))
    calm = asyncio.run(_hour(folder / "calm", source, poisoned=False))
    poisoned = asyncio.run(_hour(folder / "poisoned", source, poisoned=True))
    return {
        **{f"{name}_calm": calm[name] for name in sorted(calm | poisoned)},
        **{f"{name}_poisoned": poisoned[name] for name in sorted(calm | poisoned)},
        "more_allowed": TRIES,
    }


async def _hour(folder: Path, source: Path, *, poisoned: bool) -> Counter[str]:
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    counts: Counter[str] = Counter()

    def guard(call: Call) -> dict[str, str]:
        counts["requests"] += 1
        path = call.request.path
        if poisoned and call.request.method == "POST" and path.endswith(COMMENTS):
            counts["refused_comments"] += 1
            raise Refused(403, "No comments here.")
        return {}

    extension = Extension(guards=(guard,))
    with Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge, extend=lambda _: extension) as url:
            bare = registrations.bare_path(folder, known)
            if poisoned:
                _refuse_the_branch(bare)
                Inbox(folder / BOT_FOLDER / "inbox").put("gone", GONE)
            async with local_mode.person(url, known) as github:
                for title in ("First", "Second"):
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
