"""What every test may count on: tools said by name, and repeatable examples."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.load_profile("ci")  # `--hypothesis-profile=deep` looks further, at random


def where_is(tool: str) -> str | None:
    """Return the path of a program, looked for beside this Python first."""
    beside = str(Path(sys.executable).parent)
    return shutil.which(tool, path=os.pathsep.join((beside, *os.get_exec_path())))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test by the name of the tool it lacks; in strict mode it fails."""
    tools = [str(tool) for mark in item.iter_markers("needs") for tool in mark.args]
    missing = [tool for tool in tools if where_is(tool) is None]
    if not missing:
        return
    why = f"needs {', '.join(missing)}"
    if os.environ.get("BRAT_STRICT", "0") not in {"", "0"}:
        pytest.fail(f"{why}, and BRAT_STRICT forbids to skip it", pytrace=False)
    pytest.skip(why)
