"""Plugin: what each test costs a processor, and which ones cost more than they may.

Counted are the seconds of the worker and of the processes that it waited for: a busy
machine changes them little, where a clock on the wall would judge the neighbours. What
a module shares is paid by the first test that asks for it.
"""

import resource
from collections.abc import Generator
from operator import itemgetter
from pathlib import Path
from typing import Final, cast

import pytest

from tests.world.layers import layer_of

EACH_S: Final = {"test": 15.0, "landing": 40.0, "deep": 240.0}
"""Seconds of a processor that one test of a layer may cost."""
_BEGUN: Final = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=Path, help="write what each test cost to a file")


def pytest_configure(config: pytest.Config) -> None:
    """Add up where the reports come together."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ledger(config.getoption("--costs")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_BEGUN] = _spent_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write what a test cost into its last report."""
    report = yield
    if report.when == "teardown":
        cost = _spent_s() - item.stash[_BEGUN]
        report.user_properties.append(("cost", (layer_of(item), cost)))
    return report


def _spent_s() -> float:
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


class Ledger:
    """What all tests of a run cost."""

    def __init__(self, kept: Path | None) -> None:
        self._kept = kept
        self._costs: list[tuple[float, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == "cost":
                layer, cost = cast("tuple[str, float]", value)
                self._costs.append((cost, layer, report.nodeid))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Name what is over its budget, and say what all cost together."""
        if not self._costs:
            return
        ordered = sorted(self._costs, key=itemgetter(0), reverse=True)
        if self._kept is not None:
            lines = (f"{cost:8.2f} {layer} {test}\n" for cost, layer, test in ordered)
            self._kept.write_text("".join(lines))
        together = sum(cost for cost, _, _ in ordered)
        terminalreporter.write_line(f"{together:.0f} s of a processor")
        for cost, layer, test in ordered:
            if cost > EACH_S[layer]:
                budget = f"{layer} allows {EACH_S[layer]:.0f} s"
                terminalreporter.write_line(
                    f"over budget ({budget}): {cost:.1f} s {test}"
                )
