"""What every test may count on: tools said by name, and repeatable examples.

Here is said, too, which tests are slow: `make test` leaves those out.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest
from hypothesis import Phase, settings

pytest_plugins = ["pytester", "tests.world.secret_sweep"]

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.register_profile(
    "mutants",  # a failure is enough, the smallest is not asked for
    derandomize=True,
    max_examples=40,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("ci")  # `--hypothesis-profile=deep` looks further, at random


ENGINES = Path(__file__).parents[1] / ".engines/bin"
"""Where `make engines` puts them."""
SITE = Path(__file__).parents[1] / ".venv/site/bin"
"""Where `make site` puts MkDocs."""


SLOW_FOLDERS = {"tests/whole", "tests/engines", "tests/clients"}
SLOW_TOOLS = {"chromium", "npm"}


def where_is(tool: str) -> str | None:
    """Return the path of a program: beside this Python, an engine's, or any."""
    own = str(Path(sys.executable).parent), str(ENGINES), str(SITE)
    return shutil.which(tool, path=os.pathsep.join((*own, *os.get_exec_path())))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what lies in a slow folder or needs a slow tool."""
    for item in items:
        folder = item.path.relative_to(item.config.rootpath).parent.as_posix()
        slow = folder in SLOW_FOLDERS or not SLOW_TOOLS.isdisjoint(_tools(item))
        if slow and item.get_closest_marker("quick") is None:
            item.add_marker("slow")


def _tools(item: pytest.Item) -> list[str]:
    return [str(tool) for mark in item.iter_markers("needs") for tool in mark.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test by the name of the tool it lacks; in strict mode it fails."""
    missing = [tool for tool in _tools(item) if where_is(tool) is None]
    if not missing:
        return
    why = f"needs {', '.join(missing)}"
    if os.environ.get("BRAT_STRICT", "0") not in {"", "0"}:
        pytest.fail(f"{why}, and BRAT_STRICT forbids to skip it", pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session", autouse=True)
def _authorities_are_read_once() -> Iterator[None]:
    """Let all clients share a TLS context: reading the authorities takes 20 ms each."""
    with pytest.MonkeyPatch.context() as patch:
        shared = cache(httpx.create_ssl_context)
        patch.setattr("httpx._transports.default.create_ssl_context", shared)
        yield
