"""What hostile input costs the service that reads it: processor, memory, its loop.

Each case is read in a process of its own as the service reads it: the configuration in
the loop, all else in a thread. The loop notes the longest that it had no turn, in time
of the processor, so that the load of others does not count. Processor and memory are
the service's own; what the processes take that it starts, each within limits, stands
beside them.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

from bot.forge.workflows import exposures
from bot.repository.compose import Composer, Piece
from bot.repository.strangers_commits import (
    EXAMINERS,
    examined_patch,
    take_in_bundle,
)
from bot.roles import result_artifact
from bot.text.slash_commands import slash_commands
from bot.text.visible_text import clean_markdown
from convoy.config import ConfigError, load
from convoy.planner.issue_text import intake
from grite import git
from grite.errors import BratError
from tests.bot.history import History
from tests.bot.result_artifacts import NONCE, SESSION, result
from tests.world.rules import settings

AIMS: Final = {"processor_s": 1.0, "memory_mb": 100, "held_up_ms": 100}
MB: Final = 1_000_000
TICK_S: Final = 0.02
OTHERS: Final = resource.RUSAGE_CHILDREN
TEXT: Final = 65_000
MARKS: Final = (
    *(
        "![a](",
        "[![a](",
        "[a](",
        "[",
        "![",
        "<",
        "<!--",
        "*a_ ",
        "**a",
        "`a``",
        "> ",
        "- ",
    ),
    *("a\n===\n", "[a]: b\n", "&#", "\\", "|a|-", "1. ", "<a href=", "~~a", "@a "),
)
"""Each is repeated."""


def hostile_reading(folder: Path, _: int) -> dict[str, object]:
    """Read each case in a fresh process; return what each cost and the worst."""
    found = {}
    for name in CASES:
        place = folder / name.replace("/", "-")
        if name in RESULTS:
            _write(place, RESULTS[name]())
        elif name == REWRITES:
            _write_rewrites(place)
        args = [sys.executable, "-m", __name__, name, str(place)]
        said = subprocess.run(args, capture_output=True, check=True).stdout
        found[name] = json.loads(said)
    worst = {aim: max(each[aim] for each in found.values()) for aim in AIMS}
    missed = [
        f"{name}: {aim}"
        for name, each in found.items()
        for aim, most in AIMS.items()
        if each[aim] > most
    ]
    return {**found, "worst": worst, "aims": AIMS, "missed": missed}


def _write(folder: Path, steps: Iterable[Mapping[str, bytes]]) -> None:
    """Write a project, and the result that holds these commits after its own."""
    origin = History(folder / "origin.git")
    base = tip = origin.commit({"a": b"1\n"})
    origin.point("refs/heads/main", base)
    work = History(folder / "work.git")
    work.commit({"a": b"1\n"})
    for files in steps:
        tip = work.commit(files, tip)
    work.point("refs/heads/main", tip)
    bundle = folder / "work.bundle"
    args = ["bundle", "create", "-q", str(bundle), "HEAD", f"^{base}"]
    git.run(args, cwd=work.path)
    with ZipFile(folder / "result.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("result.json", result(commit=tip))
        archive.write(bundle, "work.bundle")


def _read_result(folder: Path) -> None:
    """Read a result as the bot does."""
    origin = folder / "origin.git"
    base = git.run(["rev-parse", "refs/heads/main"], cwd=origin).stdout.decode().strip()
    data = (folder / "result.zip").read_bytes()
    opened = result_artifact.opened(data, session=SESSION, nonce=NONCE, actor="")
    with suppress(BratError), opened as artifact:
        assert artifact.bundle is not None
        head = take_in_bundle(artifact.bundle, origin)
        examined_patch(origin, base, head, settings())


def _write_rewrites(folder: Path) -> None:
    """Write two rewrites of one file, whose lines are hard to tell apart."""
    origin, made = History(folder / "origin.git"), Random(1)  # noqa: S311  as above
    texts = [
        b"\n".join(b"%d" % made.randrange(3) for _ in range(400_000)) for _ in "abc"
    ]
    base = origin.commit({"a": texts[0]})
    for branch, text in zip(BRANCHES, texts[1:], strict=True):
        origin.point(branch, origin.commit({"a": text}, base))


def _merge(folder: Path) -> None:
    composer = Composer(folder / "origin.git")
    work, onto = (
        git.run(["rev-parse", each], cwd=folder / "origin.git").stdout.decode().strip()
        for each in BRANCHES
    )
    base = composer.base_of(work, onto)
    assert base is not None
    piece = Piece(base=base, work=work, onto=onto, message="Merge\n", at=0)
    composer.build("squash", piece)


def _undone() -> Iterator[dict[str, bytes]]:
    for number in range(20):
        yield {"a": b"%d line\n" % number * (10 * MB // 7)}
    yield {"a": b"2\n"}


def _one_line() -> Iterator[dict[str, bytes]]:
    yield {"a": b"QUJD" * (2 * MB)}


def _large() -> Iterator[dict[str, bytes]]:
    made = Random(1)  # noqa: S311  the same bytes each time
    yield {f"f{n}": made.randbytes(61_000) + b"1\n" * (10 * MB) for n in range(8)}


def _small() -> Iterator[dict[str, bytes]]:
    yield {f"f{number}": b"%d\n" % number for number in range(20_000)}


def _nine_levels(key: str) -> str:
    lines = ["on: push", "x0: &a0 {k: v}"]
    for level in range(9):
        nine = ", ".join([f"*a{level}"] * 9)
        lines.append(f"x{level + 1}: &a{level + 1} {{{key}: [{nine}]}}")
    return "\n".join([*lines, "jobs: {test: {env: *a9}}"])


def _configured(text: str) -> None:
    with suppress(ConfigError):
        load(text, source="config.toml")


RESULTS: Final[Mapping[str, Callable[[], Iterable[Mapping[str, bytes]]]]] = {
    "20 steps of 10 MB": _undone,
    "8 MB of one line": _one_line,
    "490 kB that are 160 MB": _large,
    "20,000 small files": _small,
}
WORKFLOWS: Final = {
    "aliases of nine levels": _nine_levels("k"),
    "merges of nine levels": _nine_levels("<<"),
    "a branch of stars": (
        f"on: {{push: {{branches: ['{'**a' * 500}']}}}}\njobs: {{test: {{}}}}"
    ),
}
CONFIGURATIONS: Final = {
    "a key of 60 kB": "a." * 30_000 + "b = 1",
    "3,000 keys": "".join(f"a{number} = 1\n" for number in range(3_000)),
    "65 kB of keys": "".join(f"a{number} = 1\n" for number in range(6_000)),
}
TEXTS: Final = {f"65 kB of {mark!r}": mark * (TEXT // len(mark)) for mark in MARKS}
REWRITES: Final = "two rewrites of 800 kB"
BRANCHES: Final = ("refs/heads/work", "refs/heads/main")
CASES: Final = (*RESULTS, REWRITES, *WORKFLOWS, *CONFIGURATIONS, *TEXTS)


async def _read(name: str, folder: Path) -> None:
    if name in RESULTS:
        await asyncio.to_thread(_read_result, folder)
    elif name == REWRITES:
        await asyncio.to_thread(_merge, folder)
    elif name in WORKFLOWS:
        await asyncio.to_thread(exposures, {"ci.yml": WORKFLOWS[name]}, "", None)
    elif name in CONFIGURATIONS:
        with suppress(ConfigError):
            load(CONFIGURATIONS[name], source="config.toml")
    else:
        text = TEXTS[name]
        await asyncio.to_thread(clean_markdown, text, limit=TEXT)
        await asyncio.to_thread(slash_commands, text)
        await asyncio.to_thread(intake, text)


async def _measured(name: str, folder: Path) -> dict[str, float]:
    begun, grown, others = _processor_s(), _memory_mb(), _processor_s(OTHERS)
    reading = asyncio.create_task(_read(name, folder))
    held = 0.0
    while not reading.done():
        before = time.process_time()
        await asyncio.sleep(TICK_S)
        held = max(held, time.process_time() - before)
    reading.result()
    EXAMINERS.end()  # so that what it took is counted
    return {
        "processor_s": round(_processor_s() - begun, 2),
        "memory_mb": round(_memory_mb() - grown),
        "held_up_ms": round(held * 1000),
        "others_processor_s": round(_processor_s(OTHERS) - others, 2),
    }


def _processor_s(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _memory_mb() -> float:
    """Return the most memory that this process has had."""
    said = Path("/proc/self/status").read_text()
    return int(said.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    figures = asyncio.run(_measured(sys.argv[1], Path(sys.argv[2])))
    sys.stdout.write(json.dumps(figures))
