"""Where tests failed is read from what the runners really print."""

from hypothesis import given, strategies as st

from convoy.text import clean
from convoy.text.project_tests import MOST_PLACES, FailingPlace, failing_places
from tests.convoy.test_failing_tests import COMPILERS, KNOWN as NAMES, OUTPUTS
from tests.world.cases import looped

KNOWN = {
    "cargo": (FailingPlace("src/lib.rs", 1, "tests::adds"),),
    "cargo_build": (FailingPlace("src/lib.rs", 1, "it failed here"),),
    "cargo_doctest": (),
    "cargo_doctest_quiet": (),
    "go": (FailingPlace("s_test.go", 3, "got 2"),),
    "go_build": (FailingPlace("a_test.go", 5, "undefined: undefinedName"),),
    "go_panic": (),
    "jest": (
        FailingPlace("j/sum.test.js", 1, "sum \u203a adds two"),
        FailingPlace("j/sum.test.js", 2, "sum \u203a adds two"),
    ),
    "mocha": (FailingPlace("m/sum.js", 1, "adds two"),),
    "node": (),
    "nodespec": (),
    "pytest": (
        FailingPlace("p/test_sum.py", 3, "AssertionError: 2 != 3"),
        FailingPlace("p/test_sum.py", 4, "AssertionError: assert 'a' == 'b'"),
    ),
    "unittest": (),
    "vitest": (FailingPlace("v/sum.spec.mjs", 1, "v/sum.spec.mjs > sum > adds two"),),
}


def test_each_output_is_known() -> None:
    assert {file.stem for file in OUTPUTS.iterdir()} == set(KNOWN)
    assert NAMES.keys() | COMPILERS == set(KNOWN)


def test_the_places_are_those_of_the_repository() -> None:
    for runner, places in KNOWN.items():
        text = clean((OUTPUTS / f"{runner}.txt").read_text())
        assert failing_places(text) == places


def test_a_test_without_a_line_is_found_by_its_file() -> None:
    found = failing_places("FAILED tests/test_a.py::test_b - boom\n1 failed")

    assert found == (FailingPlace("tests/test_a.py", 1, "tests/test_a.py::test_b"),)


@looped("/etc/passwd.py:3: x", "../a.py:3: x", "node_modules/a.js:3:1", "12:30.5: x")
def test_no_path_leads_out(line: str) -> None:
    assert failing_places(line) == ()


@given(st.text())
def test_any_text_names_few_places(text: str) -> None:
    found = failing_places(text)

    assert len(found) <= MOST_PLACES
    assert all(one.line > 0 and one.path[:1] != "/" for one in found)
