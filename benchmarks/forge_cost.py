"""What a convoy of fifty costs the forge in pushes and reads, time squeezed together.

Fifty sessions of 15 minutes and the pace that GitHub asks for, both a hundred times
faster: what is counted is the same, minute for squeezed minute. The bot runs in this
process so that its git commands can be counted; a runner makes two fetches a session.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.fleet import Load, project
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Source
from grite import git

SQUEEZED = 100
SESSION_S, PUSH_GAP_S, SESSIONS = 900, 20.0, 50
READS = frozenset({"ls-remote", "fetch"})


def forge_cost(folder: Path, _: int) -> dict[str, object]:
    """Count what fifty sessions of 15 minutes cost, side by side on fifty slots."""
    load = Load(seconds=[SESSION_S / SQUEEZED] * SESSIONS, slots=SESSIONS)
    source = project(folder / "source", load)
    return asyncio.run(_counted(folder / "brat", source, load))


async def _counted(folder: Path, source: Path, load: Load) -> dict[str, object]:
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=load.ci))
    with Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge) as url:
            settings = local_mode.bot_settings(folder, known, url).model_copy(
                update={"push_gap_s": PUSH_GAP_S / SQUEEZED}
            )
            items = "\n".join(f"- [ ] Do {n}" for n in range(1, SESSIONS + 1))
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Do it all", items)
                await github.relabel(issue, {"brat"}, set())
            begun = time.perf_counter()
            with counting(folder / BOT_FOLDER / "mirror.git") as counts:
                async with (
                    bot_service.opened(settings, lambda _: None) as loop,
                    bot_service.door(loop, 0) as port,
                ):
                    await local_mode.point_hook(url, known, port)
                    await bot_service.until_done(loop)
            minutes = (time.perf_counter() - begun) * SQUEEZED / 60
    pushes = counts["push"]
    reads = sum(counts[verb] for verb in READS) + 2 * SESSIONS
    return {
        "sessions": SESSIONS,
        "minutes": round(minutes, 1),
        "pushes": pushes,
        "pushes_a_minute": round(pushes / minutes, 2),
        "pushes_a_minute_were_it_done_in_15": round(pushes / 15, 2),
        "pushes_a_minute_bound": 60 / PUSH_GAP_S,
        "pushes_a_minute_allowed": 6,
        "git_reads": reads,
        "git_reads_a_second": round(reads / minutes / 60, 3),
        "git_reads_a_second_allowed": 15,
    }


@contextmanager
def counting(mirror: Path) -> Iterator[Counter[str]]:
    """Count the git commands that run in a mirror, by their verbs."""
    counts: Counter[str] = Counter()
    run = git.run

    def counted(args: Sequence[str], **given: Any) -> git.Completed:  # noqa: ANN401
        if given.get("cwd") == mirror:
            words = [a for a in args if not a.startswith("-") and "=" not in a]
            counts[words[0]] += 1
        return run(args, **given)

    with patch.object(git, "run", counted):
        yield counts
