"""What every test may count on: tools said by name, and repeatable examples."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

pytest_plugins = ["pytester"]

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


def where_is(tool: str) -> str | None:
    """Return the path of a program: beside this Python, an engine's, or any."""
    own = str(Path(sys.executable).parent), str(ENGINES)
    return shutil.which(tool, path=os.pathsep.join((*own, *os.get_exec_path())))


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
