"""Which tests failed, and where, is read from what the runners really print."""

from pathlib import Path

from hypothesis import given, strategies as st

from convoy.text import clean
from convoy.text.project_tests import (
    MOST_PLACES,
    FailingPlace,
    failing_places,
    failing_tests,
    headline,
)
from tests.world.cases import looped
from tests.world.patience import LINEAR, TIMES, growth

OUTPUTS = Path(__file__).parent / "outputs"
KNOWN = {
    "cargo": ("tests::adds",),
    "cargo_doctest": ("src/lib.rs - add (line 3)",),
    "go_panic": ("TestA",),
    "go": ("TestSum", "TestSum/adds_two"),
    "jest": ("sum \u203a adds two", "alone"),
    "mocha": ("adds two",),
    "node": ("adds two", "sum"),
    "nodespec": ("adds two", "sum"),
    "pytest": ("p/test_sum.py::TestSum::test_adds", "p/test_sum.py::test_alone"),
    "unittest": ("test_adds (test_sum.TestSum.test_adds)",),
    "vitest": ("v/sum.spec.mjs > sum > adds two",),
}
COMPILERS = {
    "cargo_build": "error[E0425]: cannot find value `nope` in this scope",
    "go_build": "./a_test.go:5:28: undefined: undefinedName",
}


@looped(
    ("FAILED tests/a.py::b[x - y] - AssertionError: no", "tests/a.py::b[x - y]"),
    ("ERROR tests/a.py - ImportError: no b", "tests/a.py"),
    ("[ERROR]   SumTest.adds:12 expected: <3>", "SumTest.adds:12 expected: <3>"),
    ("FAIL: test_x (m.T.test_x) (i=1)", "test_x (m.T.test_x) (i=1)"),
    ("SumTest > adds two FAILED", "SumTest > adds two"),
    ("src/lib.rs - add (line 3) --- FAILED", "src/lib.rs - add (line 3)"),
    ("SUBFAILED[i=1] tests/a.py::test_b - assert 1 == 2", "tests/a.py::test_b"),
    ("SUBFAILED(i=1) tests/a.py::test_b - assert 1 == 2", "tests/a.py::test_b"),
    *((line, "") for line in ("not ok 1 - later # TODO", "ERROR 500", "    1) first")),
)
def test_forms_without_a_sample(line: str, name: str) -> None:
    assert failing_tests(line) == tuple(filter(None, (name,)))


def test_a_headline_is_short_and_says_how_many_more_there_are() -> None:
    many = "\n".join(f"FAILED tests/a.py::test_{n} - no" for n in range(9))

    assert headline(many) == (
        "tests/a.py::test_0, tests/a.py::test_1, tests/a.py::test_2, and 6 more"
    )
    assert headline("one\n\nmake: *** [all] Error 2\n\n") == "make: *** [all] Error 2"
    for said in (
        "[ERROR]\n[ERROR] Re-run Maven using -X\n[ERROR] [Help 1] http://cwiki.example",
        "npm error A complete log of this run can be found in: /tmp/x.log",
        "BUILD FAILED in 3s\n7 actionable tasks: 7 executed",
        "\nNode.js v20.20.2",
        "  evaluation failed :( (1.66 seconds)",
    ):
        assert headline(f"one\n{said}\n") == "one"
    warned = "stock/core.py:3: DeprecationWarning: use b instead"
    for text, told in (
        ("Node.js v20.20.2", "Node.js v20.20.2"),
        ("\n \n", ""),
        ("E  AssertionError: 3\nno_proxy=localhost\n", "E  AssertionError: 3"),
        ("ci: failure\nit is cold\nPATH=/bin\n", "it is cold"),
        ("fatal: no identity\n0 errors, done in 3 s\n", "fatal: no identity"),
        ("A=1\n", "A=1"),
        (f"{warned}\nTypeError: a() takes no b", "TypeError: a() takes no b"),
    ):
        assert headline(text) == told
    assert len(headline("x" * 9_000)) <= 200


PLACES = {
    "cargo": (FailingPlace("src/lib.rs", 1, "tests::adds"),),
    "cargo_build": (FailingPlace("src/lib.rs", 1, "it failed here"),),
    "go": (FailingPlace("s_test.go", 3, "got 2"),),
    "go_build": (FailingPlace("a_test.go", 5, "undefined: undefinedName"),),
    "jest": (
        FailingPlace("j/sum.test.js", 1, "sum \u203a adds two"),
        FailingPlace("j/sum.test.js", 2, "sum \u203a adds two"),
    ),
    "mocha": (FailingPlace("m/sum.js", 1, "adds two"),),
    "pytest": (
        FailingPlace("p/test_sum.py", 3, "AssertionError: 2 != 3"),
        FailingPlace("p/test_sum.py", 4, "AssertionError: assert 'a' == 'b'"),
    ),
    "vitest": (FailingPlace("v/sum.spec.mjs", 1, "v/sum.spec.mjs > sum > adds two"),),
}


def test_a_runners_output_tells_what_failed_and_where_in_the_repository() -> None:
    outputs = {file.stem: clean(file.read_text()) for file in OUTPUTS.iterdir()}

    assert outputs.keys() == KNOWN.keys() | COMPILERS
    for runner, text in outputs.items():
        assert failing_tests(text) == KNOWN.get(runner, ()), runner
        assert failing_places(text) == PLACES.get(runner, ()), runner
        assert headline(text) == COMPILERS.get(runner, headline(text)), runner


@given(st.text())
def test_any_text_names_few_places_and_no_path_leads_out(text: str) -> None:
    found = failing_places(text)
    assert len(found) <= MOST_PLACES
    assert all(one.line > 0 and one.path[:1] != "/" for one in found)

    outside = ("/etc/passwd.py:3: x", "../a.py:3: x", "node_modules/a.js:3:1")
    assert not any(map(failing_places, (*outside, "12:30.5: x")))
    found = failing_places("FAILED tests/test_a.py::test_b - boom\n1 failed")
    assert found == (FailingPlace("tests/test_a.py", 1, "tests/test_a.py::test_b"),)


def test_a_line_made_to_be_slow_holds_nobody_up() -> None:
    def read(n: int) -> None:
        params = "[" * n + "]" * n
        failing_tests(f"SUBFAIL[{'](' * n}) {'x.py::' * n}{params}x q")

    assert growth(read, 8) < TIMES * LINEAR
