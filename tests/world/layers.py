"""Plugin: which tests run where, and in which order.

Each test is in one layer, and a layer runs those before it, too: `test` is what a
newcomer runs, `landing` what CI runs on each change, `deep` all there is. A mark says
it (`@pytest.mark.layer("landing")`: the nearest counts, of case, test and module), or
else the folder and the tools do. `--layer landing` leaves out what is deeper; without
it everything that was named runs.
"""

import os
from collections.abc import Container, Iterable
from itertools import chain, groupby
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.world.tools import tools_of

LAYERS: Final = ("test", "landing", "deep")
DEEP_FOLDERS: Final = frozenset({"tests/whole", "tests/engines"})
LANDING_TOOLS: Final = frozenset({"chromium", "npm"})
"""No newcomer has to have these."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--layer", choices=LAYERS, default=LAYERS[-1])


def sampled(
    cases: Iterable[tuple[object, ...]], landing: Container[tuple[object, ...]]
) -> list[ParameterSet]:
    marks = {True: [pytest.mark.layer("landing")], False: [pytest.mark.layer("deep")]}
    return [pytest.param(*case, marks=marks[case in landing]) for case in cases]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what lies deeper than the layer that was asked for; deal the rest."""
    deepest = LAYERS.index(config.getoption("--layer"))
    kept = [item for item in items if LAYERS.index(layer_of(item)) <= deepest]
    left_out = [item for item in items if LAYERS.index(layer_of(item)) > deepest]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = _dealt(kept, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Let each worker begin with as many of the dear modules: none is left for the end.

    A worker gets a part of the list as it stands, and others take from its end.
    """
    dear = {item.path for item in items if layer_of(item) != LAYERS[0]}
    modules = [[*found] for _, found in groupby(items, lambda item: item.path)]
    first = [module for module in modules if module[0].path in dear]
    rest = [item for item in items if item.path not in dear]
    share = -(-len(rest) // workers)
    parts = ((first[k::workers], rest[k * share :][:share]) for k in range(workers))
    return [item for own, others in parts for item in chain(*own, others)]


def layer_of(item: pytest.Item) -> str:
    # A case's marks stand behind those of its function, which pytest calls nearer.
    own = [mark for mark in reversed(item.own_markers) if mark.name == "layer"]
    if marks := own or [*item.iter_markers("layer")]:
        (layer,) = marks[0].args
        return str(layer)
    folder = item.path.relative_to(item.config.rootpath).parent.as_posix()
    if folder in DEEP_FOLDERS:
        return "deep"
    return "test" if LANDING_TOOLS.isdisjoint(tools_of(item)) else "landing"
