"""`--known-bugs`: tests that known_bugs/ names must fail, all others must pass."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--known-bugs",
        action="store_true",
        help="expect the tests named in known_bugs/ to fail (for runs of all tests)",
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if not config.getoption("known_bugs"):
        return
    tests = {item.nodeid: item for item in items}
    for bug in sorted(Path(config.rootpath, "known_bugs").glob("*")):
        for name in bug.read_text(encoding="utf-8").splitlines():
            if name.startswith("#"):
                continue
            if name not in tests:
                raise pytest.UsageError(f"known_bugs/{bug.name}: no test {name}")
            tests[name].add_marker(pytest.mark.xfail(strict=True, reason=bug.name))
