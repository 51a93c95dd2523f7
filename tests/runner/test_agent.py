"""What the runner's process loads before it knows its task."""

import sys

from runner.session.session_run import BAD_INPUT
from tests.world.program import ran

HEAVY = {
    *("pydantic", "pygit2", "git", "aiohttp", "rich", "httpx", "psutil", "asyncio"),
    "tenacity",
    *("dataclasses", "difflib", "traceback", "http.client"),
}


def test_a_runner_loads_no_library_it_can_do_without() -> None:
    argv = (sys.executable, "-I", "-X", "importtime", "-m", "runner")
    done = ran(argv, env={})

    lines = done.stderr.splitlines()
    loaded = {each.rpartition("|")[2].strip() for each in lines}
    assert {"runner.session.session_run", "msgspec"} <= loaded
    assert not HEAVY & loaded
    assert done.returncode == BAD_INPUT
