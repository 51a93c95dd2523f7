"""Plugin: tests that need a program are skipped by its name where it is missing.

With `BRAT_STRICT=1` they fail instead: whoever sets it has installed everything.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

ENGINES = Path(__file__).parents[2] / ".engines/bin"
"""Where `make engines-install` puts them."""
SITE = Path(__file__).parents[2] / ".venv/site/bin"
"""Where `make site` puts MkDocs."""


def where_is(tool: str) -> str | None:
    """Return the path of a program: beside this Python, an engine's, or any."""
    own = str(Path(sys.executable).parent), str(ENGINES), str(SITE)
    return shutil.which(tool, path=os.pathsep.join((*own, *os.get_exec_path())))


def tools_of(item: pytest.Item) -> list[str]:
    """Return the programs that a test's `needs` marks name."""
    return [str(tool) for mark in item.iter_markers("needs") for tool in mark.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, or fail, a test that lacks a program."""
    missing = [tool for tool in tools_of(item) if where_is(tool) is None]
    if not missing:
        return
    why = f"needs {', '.join(missing)}"
    if os.environ.get("BRAT_STRICT", "0") not in {"", "0"}:
        pytest.fail(f"{why}, and BRAT_STRICT forbids to skip it", pytrace=False)
    pytest.skip(why)
