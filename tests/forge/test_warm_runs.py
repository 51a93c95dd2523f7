"""Runners that one process forks: each begins as if it had been started alone."""

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from brat.forge.service import programs
from brat.forge.service.programs import WARM_RUNNER, Forked, Place, WarmRunner
from tests.runner.job import Forge, git
from tests.world.forge import until

pytestmark = [
    pytest.mark.layer("landing"),
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each starts alone"),
]
FIRST = "first-session-must-not-be-seen"
AGENT = (
    "env > env.txt; ls -l /proc/self/fd > fds.txt; umask > umask.txt;"
    " ps -o sid= -p $$ > sid.txt; pwd > pwd.txt"
)


@pytest.fixture
async def warm() -> AsyncIterator[WarmRunner]:
    warm = WarmRunner()
    yield warm
    warm.end()


async def forked(warm: WarmRunner) -> Forked:
    found = await warm.fork()
    assert found is not None
    return found


async def ended(process: Forked) -> None:
    if born := programs.born(process.pid):
        await programs.gone(process.pid, born)


async def run(
    warm: WarmRunner, forge: Forge, name: str, more: Mapping[str, str]
) -> Path:
    """Run one session, with a token of its own, in a process that was forked."""
    process, where, result = await begun(warm, forge, name, AGENT, more)
    await ended(process)
    assert process.wait() == 0, where.log.read_text()
    return result


async def begun(
    warm: WarmRunner, forge: Forge, name: str, agent: str, more: Mapping[str, str]
) -> tuple[Forked, Place, Path]:
    log = forge.hand_off(forge.started("sh", "-c", agent))
    result = forge.root / f"result-{name}"
    env = forge.environment(log, BRAT_RESULT=str(result), BRAT_TOKEN=None, **more)
    process, where = await forked(warm), Place(forge.root / name)
    where.workspace.mkdir(parents=True)
    process.begin(where, env, {"BRAT_TOKEN_FD": f"token-{name}".encode()})
    return process, where, result


async def test_nothing_of_a_session_is_in_the_next(
    warm: WarmRunner, tmp_path: Path
) -> None:
    forge = Forge(tmp_path)
    await run(warm, forge, FIRST, {"OPENAI_API_KEY": FIRST, "LC_MESSAGES": FIRST})
    waiting = await forked(warm)
    server = psutil.Process(waiting.pid).ppid()
    theirs, servers = opened(waiting.pid), opened(server)
    memories = [memory(each) for each in (server, waiting.pid)]
    waiting.close()
    result = await run(warm, forge, "second", {})

    assert FIRST.encode() in memory(os.getpid())
    assert not any(FIRST.encode() in each for each in memories)
    if os.geteuid() == 0:
        assert all(b"runner.session" in each for each in memories)
        assert theirs["0"] == os.devnull
        sockets = {each for each in theirs.values() if each.startswith("socket:")}
        assert len(sockets) == 1  # its own line
        assert sockets.isdisjoint(servers.values())
    else:  # no process of the same user may look
        assert (theirs, servers, memories) == ({}, {}, [b"", b""])
    clone = forge.root / "clone"
    git("clone", "-q", str(forge.bare), str(clone), cwd=forge.root)
    bundle = str(result / "work.bundle")
    git("fetch", "-q", bundle, "HEAD:refs/heads/work", cwd=clone)
    left = {
        each: git("show", f"work:{each}.txt", cwd=clone)
        for each in ("env", "fds", "umask", "pwd")
    }
    assert FIRST not in left["env"]
    assert not re.search(r"socket:|log\.txt", left["fds"])


def opened(pid: int) -> dict[str, str]:
    """Return what a process has open, by its descriptors; none: we may not look."""
    found = {}
    with suppress(PermissionError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # it was closed meanwhile
                found[each.name] = str(each.readlink())
    return found


def memory(pid: int) -> bytes:
    """Return all that a process holds in memory of its own; empty: we may not look."""
    found = []
    try:
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        with Path(f"/proc/{pid}/mem").open("rb", 0) as held:
            for place, rights, *_ in (line.split(None, 2) for line in maps):
                start, end = (int(each, 16) for each in place.split("-"))
                if rights.startswith("rw"):
                    held.seek(start)
                    found.append(held.read(end - start))
    except PermissionError:
        return b""
    return b"".join(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else may look")
async def test_the_witness_alone_holds_what_its_session_is_told(
    warm: WarmRunner, tmp_path: Path
) -> None:
    process, *_ = await begun(warm, Forge(tmp_path), FIRST, "sleep 600; :", {})
    guard, told = psutil.Process(process.pid), f"token-{FIRST}".encode()

    def tree() -> list[psutil.Process]:
        return [guard, *guard.children(recursive=True)]

    def sleeps() -> bool:
        with suppress(psutil.NoSuchProcess):  # what prepares the session ends meanwhile
            return "sleep" in [each.name() for each in tree()]
        return False

    await until(sleeps)
    found = tree()
    holding = [told in memory(each.pid) for each in found]
    of_fork = [each.cmdline()[-1] == WARM_RUNNER[-1] for each in found]
    guard.terminate()
    await ended(process)
    process.wait()

    # The guard, the witness, two of the box, and the agent's.
    assert of_fork == [True, True, True, True, False, False]
    assert holding == [False, True, False, False, False, False]


async def test_a_process_whose_forge_dies_before_it_is_known_does_nothing(
    warm: WarmRunner, tmp_path: Path
) -> None:
    process = await forked(warm)

    process.close()

    await ended(process)
    assert not programs.inside(tmp_path)


async def test_where_the_process_that_forks_was_killed_runners_start_by_themselves(
    warm: WarmRunner,
) -> None:
    first = await forked(warm)
    server = psutil.Process(first.pid).parent()
    assert server is not None

    server.kill()
    server.wait()

    assert await warm.fork() is None
    again = await forked(warm)
    assert again.pid != first.pid
    for each in (first, again):
        each.close()
