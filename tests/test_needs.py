"""The markers `needs` and `slow`, in a pytest of its own."""

from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
INI = """
[pytest]
markers =
    needs(tool): as here
    slow: as here
    quick: as here
asyncio_default_fixture_loop_scope = function
"""
TESTS = """
import pytest

@pytest.mark.needs("no-such-tool")
def test_lacks(): ...

@pytest.mark.needs("git", "python")
def test_has_both(): ...
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makeini(INI)
    pytester.makepyfile(TESTS)
    return pytester


def test_a_missing_tool_skips_the_test_by_name(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BRAT_STRICT", raising=False)

    done = inner.runpytest_inprocess("-rs", "-p", "no:xdist")

    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines("SKIPPED * needs no-such-tool")


def test_strict_mode_fails_it(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAT_STRICT", "1")

    done = inner.runpytest_inprocess("-p", "no:xdist")

    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines("*needs no-such-tool, and BRAT_STRICT forbids*")


def test_what_needs_a_browser_is_slow_unless_it_is_called_quick(
    inner: pytest.Pytester,
) -> None:
    inner.makepyfile("""
import pytest

@pytest.mark.needs("chromium")
def test_looks(): ...

@pytest.mark.quick
@pytest.mark.needs("chromium")
def test_looks_at_once(): ...
""")

    done = inner.runpytest_inprocess(
        "--collect-only", "-q", "-m", "not slow", "-p", "no:xdist"
    )

    done.stdout.fnmatch_lines("*::test_looks_at_once")
    done.stdout.no_fnmatch_line("*::test_looks")
