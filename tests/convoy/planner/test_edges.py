"""What implies an order between tasks, and what does not."""

import json
from itertools import combinations

from hypothesis import given, strategies as st

from convoy.model.records import TaskSpec, Wait
from convoy.model.task_graph import find_cycle, waits
from convoy.planner import marks
from convoy.planner.ground import MOST_READ, Ground
from convoy.planner.issue_text import checklist
from convoy.planner.plan_reader import House, imports_beside, read_plan
from convoy.text import Unfit
from grite.resource import overlaps
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

TEXTS = {
    "README.md": "Run src/api.py. See web/app.ts.bak and xsrc/auth/login.py.\n",
    "docs/auth.md": "What src/auth/ does.\n",
    "src/api.py": "from auth.login import enter\n",
    "src/auth/__init__.py": "",
    "src/auth/login.py": "from auth import tokens\n",
    "src/auth/tokens.py": "",
    "src/model.py": "",
    "tests/test_api.py": "import api\n",
    "tests/helper.py": "",
    "tests/test_auth.py": "from auth import login, tokens\nimport helper\n",
    "web/app.ts": "",
    "cmd/main.go": 'import "example.org/x/pkg/store"\n',
    "cmd/main_test.go": 'import (\n\t"example.org/x/pkg/store"\n)\n',
    "pkg/store/store.go": "package store\n",
    "go.mod": "module example.org/x\n",
}
HOUSE = House(files=(*TEXTS,), engines=("default",), limit=8, text=TEXTS.__getitem__)


def plan(*paths: str, after: dict[int, list[int]] | None = None) -> list[TaskSpec]:
    """Return the tasks of a plan; a path with a + is made by its task."""
    tasks = [
        {
            "title": "Do it",
            "instructions": "Do it well, beside src/new.py.",
            "paths": [path for path in given.split() if path[0] != "+"],
            "creates": [path[1:] for path in given.split() if path[0] == "+"],
            "after": (after or {}).get(number, []),
        }
        for number, given in enumerate(paths, 1)
    ]
    return list(read_plan(json.dumps({"tasks": tasks}), HOUSE))


def test_who_names_a_new_file_waits_for_who_makes_it_whatever_their_numbers() -> None:
    one, two, three = plan("src/new.py", "+src/new.py", "+lib/a.py lib/")
    assert (one.after, two.after, three.after) == ((2,), (), ())
    assert one.waits == (Wait(2, "task 2 creates src/new.py"),)

    one, two = plan("+src/new.py", "+src/new.py")  # the later waits
    assert (one.after, two.after) == ((), (1,))
    assert two.waits == (Wait(1, "both touch src/new.py", overlap=True),)
    one, two = plan("lib/", "+lib/a.py")
    assert one.waits == (Wait(2, "task 2 creates lib/a.py"),)
    assert two.after == ()
    tasks = plan("src/api.py", "README.md", "src/api.py", after={1: [2], 2: [3]})
    assert [task.after for task in tasks] == [(2,), (3,), ()], "they wait already"


@looped(
    # who makes what is there already makes nothing
    (("src/api.py", "+src/api.py"), [(), (1,)]),
    # the listed order holds among those that share a path
    (("README.md", "README.md src/api.py"), [(), (1,)]),
    (("web/app.ts", "src/model.py", "src/model.py", "src/"), [(), (), (2,), (2, 3)]),
    # disjoint parts of a feature run at once
    (("+src/n.py", "+web/Bell.tsx", "+prisma/n.sql"), [(), (), ()]),
    # tests do not wait for tests
    (("tests/test_auth.py", "tests/helper.py"), [(), ()]),
    # Go's tests wait for the folder they import
    (("cmd/main_test.go", "pkg/store/store.go"), [(2,), ()]),
)
def test_who_waits_for_whom(paths: tuple[str, ...], after: list[object]) -> None:
    assert [task.after for task in plan(*paths)] == after


def test_tests_wait_for_the_code_they_import() -> None:
    one, two = plan("tests/test_auth.py", "src/auth/tokens.py")
    why = "tests/test_auth.py imports src/auth/tokens.py, which task 2 changes"
    assert (one.waits, two.after) == ((Wait(2, why, overlap=True),), ())

    one, two = plan("tests/test_api.py", "src/api.py", after={2: [1]})
    assert (one.after, two.after, two.waits) == ((), (1,), ()), "the plan says so"

    tasks = plan("src/auth/", "tests/", "src/api.py", "web/app.ts")
    assert [task.after for task in tasks] == [(), (1, 3), (), ()], "all in a folder"
    assert tasks[1].waits[1].why == (
        "tests/test_api.py imports src/api.py, which task 3 changes"
    )

    code = ("src/model.py", "web/app.ts")  # the tests are yet to be written
    tasks = plan("+tests/test_model.py", code[0], "+web/app.test.ts", code[1])
    assert [task.after for task in tasks] == [(2,), (), (4,), ()]
    why = "tests/test_model.py is named after src/model.py, which task 2 changes"
    assert tasks[0].waits[0].why == why


def test_documents_wait_for_the_code_they_name() -> None:
    code = ("src/api.py", "web/app.ts")
    tasks = plan("README.md", *code, "docs/auth.md", "src/auth/")

    assert [task.after for task in tasks] == [(2,), (), (), (5,), ()]
    why = "README.md mentions src/api.py, which task 2 changes"
    assert tasks[0].waits == (Wait(2, why, overlap=True),)


def test_code_that_imports_code_runs_beside_it_and_that_is_told() -> None:
    login, tokens = "src/auth/login.py", "src/auth/tokens.py"
    tasks = tuple(plan(login, tokens, "src/api.py"))

    assert [task.after for task in tasks] == [(), (), ()]
    first, second = imports_beside(tasks, HOUSE)
    beside = "task {} may run in parallel with task {}: {} imports "
    told = f"{beside.format(1, 2, login)}{tokens}, which task 2 changes"
    assert first == told
    assert second.startswith(beside.format(3, 1, "src/api.py"))
    assert imports_beside(tuple(plan(login, tokens, after={1: [2]})), HOUSE) == ()


def test_no_more_files_are_read_than_a_plan_is_worth() -> None:
    count = 0

    def text(_path: str) -> str:
        nonlocal count
        count += 1
        return "import m0\n"

    files = tuple(f"tests/test_{n}.py" for n in range(MOST_READ + 100))
    ground = Ground(files=files, text=text)
    tests = TaskSpec(number=1, title="", instructions="", paths=("tests/",))
    for file in ground.within(tests):
        ground.imports(file)
    ground.imports(files[-1])

    assert count == MOST_READ


names = st.sampled_from(
    [*TEXTS, "src/", "src/auth", "tests/", "docs/", "new/", "new/a.py", "new/b.md"]
)
tasks = st.lists(
    st.tuples(
        st.lists(names, max_size=3),
        st.lists(names, max_size=2),
        st.lists(st.integers(1, 6), max_size=2),
    ),
    min_size=1,
    max_size=6,
)


@given(tasks)
def test_every_plan_that_is_taken_is_in_order_and_keeps_each_reason(
    given: list[tuple[list[str], list[str], list[int]]],
) -> None:
    after = {number: wanted for number, (_, _, wanted) in enumerate(given, 1)}
    written = [
        " ".join([*paths, *(f"+{path}" for path in creates)])
        for paths, creates, _ in given
    ]
    try:
        found = plan(*written, after=after)
    except Unfit:
        return
    specs = {task.number: task for task in found}

    assert find_cycle({number: task.after for number, task in specs.items()}) is None
    for task, (paths, creates, wanted) in zip(found, given, strict=True):
        assert {*task.paths} == {*paths, *creates}
        implied = [wait.on for wait in task.waits]
        assert sorted({*implied, *wanted}) == [*task.after]
        assert len({*implied}) == len(implied)
        assert not {*implied} & {*wanted}
    for one, other in combinations(found, 2):
        ordered = waits(specs, one.number, other.number)
        if not ordered and not waits(specs, other.number, one.number):
            assert not any(
                overlaps(f"path:{a}", f"path:{b}")
                for a in one.paths
                for b in other.paths
            )


# --- what a file builds on, as its text says ------------------------------------------


FILES = frozenset(
    {
        *("src/shop/__init__.py", "src/shop/cart.py", "src/shop/api/__init__.py"),
        *("src/shop/api/views.py", "tests/helpers.py", "tests/test_cart.py"),
        *("web/app.ts", "web/parts/bell.tsx", "web/parts/index.ts", "web/old.js"),
        *("go.mod", "cmd/main.go", "internal/store/store.go"),
        *("src/lib.rs", "src/parse/mod.rs", "src/parse/word.rs", "src/line.rs"),
        *("core/src/main/java/org/shop/Cart.java", "include/list.h", "native/a.c"),
        *("native/a.h", "lib/a.rb", "lib/b.rb"),
    }
)

GROUND = Ground(
    files=tuple(sorted(FILES)), text=lambda _path: "module ex.org/shop\n\ngo 1.22\n"
)


@looped(
    ("tests/test_cart.py", "import shop.cart as c, os", {"src/shop/cart.py"}),
    ("tests/test_cart.py", "from shop import cart", {"src/shop/cart.py"}),
    ("tests/test_cart.py", "from shop import Cart", {"src/shop/__init__.py"}),
    ("tests/test_cart.py", "import helpers", {"tests/helpers.py"}),
    (
        "src/shop/api/views.py",
        "from .. import (\n    cart,  # all of it\n    api,\n)",
        {"src/shop/cart.py", "src/shop/api/__init__.py"},
    ),
    ("src/shop/api/views.py", "from . import views", set()),
    ("src/shop/cart.py", "from nowhere import x\nimport 3\nimport os", set()),
    ("web/app.ts", "import {Bell} from './parts/bell'", {"web/parts/bell.tsx"}),
    ("web/app.ts", 'import "./parts/bell.js"', {"web/parts/bell.tsx"}),
    ("web/old.js", "const p = require('./parts')", {"web/parts/index.ts"}),
    ("web/app.ts", "import React from 'react'", set()),
    ("cmd/main.go", '\t"ex.org/shop/internal/store"', {"internal/store/"}),
    ("src/lib.rs", "pub mod line;\nmod parse;", {"src/line.rs", "src/parse/mod.rs"}),
    ("src/line.rs", "use crate::parse::word::Word;", {"src/parse/word.rs"}),
    ("src/parse/word.rs", "use super::Parser;", {"src/parse/mod.rs"}),
    (
        "core/src/main/java/org/shop/Till.java",
        "import static org.shop.Cart.total;",
        {"core/src/main/java/org/shop/Cart.java"},
    ),
    (
        "native/a.c",
        '#include "a.h"\n# include "list.h"',
        {"native/a.h", "include/list.h"},
    ),
    ("lib/a.rb", "require_relative 'b'", {"lib/b.rb"}),
    ("README.md", "import shop.cart", set()),
)
def test_imports_lead_to_files_of_the_repository(
    path: str, text: str, found: set[str]
) -> None:
    assert GROUND.imported(path, text) == found


@looped("\n", "from a import (", "import ", "pub(", 'from "', " ", "#include", "use ")
def test_no_text_keeps_it_busy(line: str) -> None:
    def read(size: int) -> None:
        text = (line * size)[:size]
        for name in ("a.py", "a.ts", "a.go", "a.rs", "A.java", "a.c", "a.rb"):
            GROUND.imported(name, text)

    assert growth(read, 25_000) < LINEAR


@looped("- [ ] a after: 1", "- [ ] a\n  after: 1")
def test_blanks_behind_a_number_keep_nobody_busy(item: str) -> None:
    def read(blanks: int) -> None:
        for each in checklist(f"{item}{' ' * blanks}x").items:
            marks.marked(each)

    assert growth(read, 2_000) < LINEAR
