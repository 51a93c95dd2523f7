"""How the runner starts: by what it is told, and with what it loads."""

import os
import sys
from pathlib import Path

import pytest

from runner.inputs.container_entry import BY_PIPE, handed_on
from runner.session.session_run import BAD_INPUT
from tests.world.program import ran

TINI = """\
#!/bin/sh
tr '\\0' '\\n' < /proc/$$/environ > shown
shift
exec "$@"
"""
READ = (
    "import os, runner.inputs.job_inputs as i; found = i.environment();"
    "print(found['BRAT_TOKEN'], found['SPOKEN'], os.environ.get('BRAT_TOKEN'))"
)

HEAVY = {
    *("pydantic", "pygit2", "git", "aiohttp", "rich", "httpx", "psutil", "asyncio"),
    "tenacity",
    *("dataclasses", "difflib", "traceback", "http.client"),
}


@pytest.mark.needs("tr")
def test_only_the_runner_sees_what_the_container_was_started_with(
    tmp_path: Path,
) -> None:
    tini = tmp_path / "tini"  # stands where the real one does, and shows itself
    tini.write_text(TINI)
    tini.chmod(0o755)
    env = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "BRAT_TOKEN": "made-up-secret",
        "SPOKEN": "ä=\n",
    }

    python = [sys.executable, "-I"]
    entry = [*python, "-m", "runner.inputs.container_entry", *python, "-c", READ]
    done = ran(entry, cwd=tmp_path, env=env, check=True)

    assert done.stdout == "made-up-secret ä=\n None\n"
    shown = (tmp_path / "shown").read_text()
    assert BY_PIPE in shown
    assert "made-up-secret" not in shown
    assert handed_on({"A": "b"}) == {"A": "b"}


def test_a_runner_loads_no_library_it_can_do_without() -> None:
    argv = (sys.executable, "-I", "-X", "importtime", "-m", "runner")
    done = ran(argv, env={})

    lines = done.stderr.splitlines()
    loaded = {each.rpartition("|")[2].strip() for each in lines}
    assert {"runner.session.session_run", "msgspec"} <= loaded
    assert not HEAVY & loaded
    assert done.returncode == BAD_INPUT
