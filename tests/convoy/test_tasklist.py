# ruff: noqa: E501, RUF001  what people write and read is kept on one line
import re

import pytest
from hypothesis import example, given, settings, strategies as st
from inline_snapshot import snapshot

from convoy.model import task_graph
from convoy.model.records import TaskSpec
from convoy.planner.tasklist import Plan, PlanError, plan, plan_remarks
from convoy.text import TEXT_CHARS, clean
from tests.world.cases import looped

ENGINES = ("default", "docs", "tests")

AUTH = """\
The auth module signs tokens by hand.

- [ ] Implement tokens (after 2) paths: auth/tokens.py, auth/keys/
- [x] Choose a library
- [ ] Verify tokens in the middleware (after 1, 2)
  Keep the old header working.

  - paths: auth/middleware.py
  - needs: port:5432, service:mail
- [ ] Write tests (after 1 and 3) engine: tests accept: `pytest -q a.py && true`

Do not touch the login page.
"""


def planned(text: str, *, limit: int = 20) -> Plan:
    return plan("Move auth to JWT", text, ENGINES, limit)


def only(text: str) -> TaskSpec:
    (task,) = planned(text)
    return task


def own(task: TaskSpec) -> str:
    return task.instructions.partition("\n\nThis is task")[0]


# --- the list -----------------------------------------------------------------------


def test_a_list_becomes_tasks_and_ticked_items_keep_their_number() -> None:
    tasks = planned(AUTH)

    assert [(t.number, t.title, t.after, t.engine) for t in tasks] == [
        (1, "Implement tokens", (), "default"),
        (3, "Verify tokens in the middleware", (1,), "default"),
        (4, "Write tests", (1, 3), "tests"),
    ]
    accepted = [t.acceptance for t in tasks]
    assert accepted == ["", "", "pytest -q a.py && true"]
    assert [(t.paths, t.needs) for t in tasks] == [
        (("auth/tokens.py", "auth/keys/"), ()),
        (("auth/middleware.py",), ("port:5432", "service:mail")),
        ((), ()),
    ]
    assert tasks[1].instructions == snapshot("""\
Verify tokens in the middleware
Keep the old header working.

This is task 3 of the issue "Move auth to JWT". Apart from its tasks, the issue says:

The auth module signs tokens by hand.

Do not touch the login page.\
""")


def test_an_issue_without_a_list_is_one_task() -> None:
    assert planned("It is slow.\n\n- one\n- two\n") == (
        TaskSpec(
            number=1,
            title="Move auth to JWT",
            instructions="Move auth to JWT\n\nIt is slow.\n\n- one\n- two",
        ),
    )
    assert plan("Fix it", "", ENGINES, 1)[0].instructions == "Fix it"
    assert (
        plan("Fix it\u2026", "Fix it soon", ENGINES, 1)[0].instructions == "Fix it soon"
    )
    assert plan("", "\n Fix  it\nnow", ENGINES, 1)[0].title == "Fix it"


@looped(
    *("```\n- [ ] code\n```", "    - [ ] code", "> - [ ] a quote"),
    *("<!--\n- [ ] a comment\n-->", "- [] no space", "- [ ]", "- [ ]no space"),
    *("- [y] another letter", "[ ] no bullet", "- > [ ] a quote in a list"),
    "\\- [ ] escaped",
)
def test_what_github_shows_without_a_box_is_no_task(text: str) -> None:
    assert only(text).title == "Move auth to JWT"


@looped(
    *("- [ ] a\n- [ ] b", "* [ ] a\n* [ ] b", "1. [ ] a\n2) [ ] b"),
    *("- [ ] a\n\ntext\n\n- [ ] b", "- group\n  - [ ] a\n  - [ ] b"),
    *("- [ ] a\n  - [ ] part of a\n- [ ] b", "- [ ] a\n  > - [ ] quoted in a\n- [ ] b"),
    *("- [ ] a\r\n- [ ]\tb\r\n", "- - [ ] a\n  - [ ] b", "\u2013 [ ] a\n\u2022 [ ] b"),
    *("- [\u00a0] a\n-\u00a0[ ] b", "- [ ]\u00a0a\r\n- [ ]\u202fb"),
    "```\n\u2013 [ ] quoted\n```\n\u2013 [ ] a\n  \u2013 [ ] part of a\n- [ ] b",
)
def test_lists_of_any_form_are_read(text: str) -> None:
    assert [(t.number, t.title) for t in planned(text)] == [(1, "a"), (2, "b")]


def test_an_items_own_markdown_is_kept() -> None:
    text = """\
- group
  - [ ] Fix `f`
    and more

    ```python
    paths: x.py
      (after 9)
    ```
    > engine: none

    - [ ] a part
    \tindented
"""

    assert own(only(text)) == snapshot("""\
Fix `f`
and more

```python
paths: x.py
  (after 9)
```
> engine: none

- [ ] a part
	indented\
""")


# --- marks --------------------------------------------------------------------------


@looped(
    "Do it (after 1, 2) paths: a.py, b/ needs: port:1 engine: tests",
    "Do it paths: a.py, b/ needs: port:1 engine: tests (after 1, 2)",
    "(After 2 and 1) Do it paths: a.py,b/ engine: tests needs: port:1.",
    "Do it (after 1-2) (paths: `a.py`, `b/`) (needs: port:1) engine: tests",
    "Do it (after task 1 and task 2, paths: a.py, b/ needs: port:1) engine: tests",
    "Do it (after 1 to 2) paths: a.py, b/ needs: port:1 engine: tests",
    "Do it (after: tasks 1, 2) (paths: a.py, b/) (needs: port:1; engine: tests)",
    "Do it - **paths:** `a.py`, `b/`, needs:port:1, **engine**: tests (after 1 & 2)",
    "Do it\n  paths: a.py, b/\n  needs: port:1\n  engine: tests\n  after: 1, 2",
    "Do it\n  - paths: a.py, b/.\n  - needs: `port:1`\n  * Engine: tests\n  - after 1, 2",
    "Do it\n\n  Paths: ./a.py, b//, a.py\n\n  needs: port:1 engine: tests (after 1, 2)",
    "Do it (after 1, 2) paths: a.py,\n  b/\n  - (after 1)\n  - engine: tests; needs: port:1",
    "Do it (after 1, 2) Paths: a.py, b/, Needs: port:1 Engine: Tests",
    "Do it (after 1, 2)paths: a.py, b/ needs: port:1 engine: tests",
    "Do it\n  paths:\u00a0\u201ca.py\u201d, \u00abb/\u00bb\n  needs:\u3000port:1\n  engine: tests (after 1, 2)",
)
def test_marks_are_read_wherever_they_stand_and_taken_out(text: str) -> None:
    *_, task = planned(f"- [ ] x\n- [ ] x\n- [ ] {text}\n")

    assert task.title == "Do it"
    assert re.fullmatch(r"Do it[-*\s]*", own(task))
    assert task.after == (1, 2)
    assert task.paths == ("a.py", "b/")
    assert task.needs == ("port:1",)
    assert task.engine == "tests"


@looped(
    *(
        (title, text, "the task list is empty")
        for title, text in (
            *(("- [ ]", ""), ("- [ ]", "- [ ]"), ("[ ]", "- [ ] ")),
            *(("", "- [ ]\n\n* [x] \n"), ("", "- [ ]")),
        )
    ),
    (" \u200b", "\n", "the issue has neither a title nor any text"),
)
def test_what_has_no_words_is_no_task(title: str, text: str, told: str) -> None:
    with pytest.raises(PlanError, match=told):
        plan(title, text, {"default"}, 9)


@looped(
    *("Clean up (after 3 attempts)", "Describe `paths: a.py` and `(after 1)`"),
    *("Split the search engine and its paths", "Repair the engine:"),
    *("Take both paths: old and new", "Fix paths: they are wrong"),
    "Start (depends on the first of them)",
    "Send the request header Accept: application/json",
    "Replace the search engine: elasticsearch",
    *("List what the plugin needs: nothing", "Show the banner only once (after 3)"),
    *("Retry the call (after 1) more time", "Write the engine: tests come later"),
    "Say why the paths: a.py and b.py are read first",
    *("Mend all the import paths: utils", "Say that it needs: port:80 and a database"),
    *("Send the header Accept: `application/json`", "Add the API paths: `/health`"),
    *("Serve the paths: /a and /b", "Take Windows paths: C:\\x", "Read paths: ~/x"),
)
def test_what_only_looks_like_a_mark_stays(title: str) -> None:
    assert only(f"- [ ] {title}\n  it fails").title == title.rstrip(":")


@looped(
    *(
        (f"paths: {quoted} ", "a b.py")
        for quoted in ("\u201ca b.py\u201d", "\u201ea b.py\u201c")
    ),
    ('paths: "my file.py", b.py', "my file.py, b.py"),
    ("paths: `a b.py`", "a b.py"),
    ("（paths：a.py、b.py）", "a.py, b.py"),
    ("paths: app/(group)/[id].tsx", "app/(group)/[id].tsx"),
    ("paths: ./a//b/./c/", "a/b/c/"),
    ("paths: .github/x.yml", ".github/x.yml"),
    ("paths: docs/.", "docs/"),
)
def test_paths_have_one_form(written: str, paths: str) -> None:
    task = only(f"- [ ] x {written}")

    assert (task.title, ", ".join(task.paths)) == ("x", paths)


# --- faults -------------------------------------------------------------------------


@looped(
    *{
        "- [ ] a\n  - after: 7": "task 1: it waits for task 7, but the last task is 1",
        "- [ ] a\n- [ ] b (after #1)": "task 2: #1 is the number of an issue; write (after 1) for a task",
        "- [ ] a\n- [ ] b (after 1, 9)": "task 2: it waits for task 9, but the last task is 2",
        "- [ ] a (after 1)": "task 1: it waits for itself",
        "- [ ] a (after 3)\n- [ ] b (after 1)\n- [ ] c (after 2)": "tasks wait for each other in a cycle: 1 waits for 3, 3 waits for 2, 2 waits for 1",
        "- [ ] a engine: test": 'task 1: there is no engine "test"; configured: default, docs, tests; did you mean tests?',
        "- [ ] a\n  engine: quantum": 'task 1: there is no engine "quantum"; configured: default, docs, tests',
        "- [ ] a engine: tests, docs": "task 1: it names more than one engine: tests, docs",
        "- [ ] a needs: port:70000": 'task 1: the resource "port:70000" must be port:NUMBER (1 to 65535) or service:NAME',
        "- [ ] a\n  paths: /etc/passwd": 'task 1: the path "/etc/passwd" must be relative to the repository\'s top',
        "- [ ] a\n  paths: C:\\x": 'task 1: the path "C:\\x" must be relative to the repository\'s top',
        "- [ ] a\n  paths: ~/x": 'task 1: the path "~/x" must be relative to the repository\'s top',
        "- [ ] a paths: b/../../c": 'task 1: the path "b/../../c" must not contain ".."',
        "- [ ] a paths: a/..": 'task 1: the path "a/.." must not contain ".."',
        "- [ ] a paths: src/*.py": 'task 1: the path "src/*.py" must name one file or folder, without *, ? or \\',
        "- [ ] a paths: ./": 'task 1: the path "./" must name a file or a folder',
        "- [ ] a\n  paths: a.py and b.py": 'task 1: "paths: a.py and b.py" could not be read: list names on '
        "one line, separated by commas, and quote those with spaces",
        "- [ ] a\n  paths: a.py,\n  b.py": 'task 1: "paths: a.py," could not be read: list names on one '
        "line, separated by commas, and quote those with spaces",
        "- [ ] a\n  - engine: (after 1)": 'task 1: "engine: (after 1)" could not be read: name one engine',
        "- [ ] a\n  accept: make test": 'task 1: "accept: make test" could not be read: put the command '
        "in backticks",
        "- [ ] a\n  - engine:": 'task 1: "engine:" could not be read: name one engine',
        "- [ ] engine: tests": "task 1: it has no title",
        "- [ ] One accept: `a`, `b`": "task 1: it has more than one acceptance command: a, b; join them with && in backticks",
        f"- [ ] One accept: `{'x' * 501}`": "task 1: its acceptance command has more than 500 characters: move it into a script",
        "- [x] a\n- [X] b": "every item of the task list is ticked: nothing is left to do",
    }.items()
)
def test_a_fault_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(PlanError) as caught:
        planned(text)
    assert str(caught.value) == sentence


def test_more_tasks_than_a_convoy_may_have_are_refused() -> None:
    text = "- [x] done\n" + "- [ ] a\n" * 3

    assert len(plan("x", text, ENGINES, 20, most=3)) == 3
    told = "the task list has 3 open items; at most 2 are allowed: split the issue"
    with pytest.raises(PlanError, match=f"^{told}$"):
        plan("x", text, ENGINES, 20, most=2)


# --- text is data -------------------------------------------------------------------


def test_long_texts_are_cut_and_the_context_stays() -> None:
    title = "word " * 500
    text = f"{'around ' * 5000}\n\n- [ ] {title}\n"

    task = plan(title, text, ENGINES, 20)[0]

    assert len(task.title) <= 120
    assert task.title.endswith("…")
    assert len(task.instructions) <= 20_000
    assert title.strip() in task.instructions
    assert task.instructions.endswith("around…")
    assert len(only("a" * (TEXT_CHARS + 5)).instructions) == 20_000


FRAGMENTS = st.sampled_from(
    [
        "- [ ] ", "- [x] ", "  - ", "1. [ ] ", "> ", "```", "\n", "\n\n", "    ", "\t",
        "(after 1)", "(after 2, 3)", "after: 1", "paths: a.py", "paths: ../x", "needs:",
        "needs: port:1", "engine: tests", "engine: ", ", ", "`", "word ", "\x1b[0m", "é",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(st.one_of(FRAGMENTS, st.text(max_size=3))).map("".join)
)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=200), TEXTS)
@example("…", "")
def test_any_issue_is_planned_or_refused_in_one_sentence(title: str, text: str) -> None:
    try:
        tasks = plan(title, text, ENGINES, 20)
    except PlanError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017  both ends are right
        return

    numbers = [task.number for task in tasks]
    assert numbers == sorted(set(numbers))
    assert task_graph.find_cycle({task.number: task.after for task in tasks}) is None
    assert sorted(task_graph.order(tasks)) == numbers
    for task in tasks:
        assert set(task.after) < set(numbers) or not task.after
        assert task.engine in ENGINES
        assert 0 < len(task.title) <= 120
        assert 0 < len(task.instructions) <= 20_000
        assert task.title == clean(task.title)
        assert task.instructions == clean(task.instructions)
        assert [*task.paths] == [*map(task_graph.declared_path, task.paths)]
        assert [*task.needs] == [*map(task_graph.declared_need, task.needs)]
        task.instructions.encode()


def test_an_item_that_was_struck_through_is_no_task() -> None:
    text = "- [ ] a\n- [ ] ~~b (after 1)~~\n- [ ] ~~c~~ d"

    assert [(t.number, t.title) for t in planned(text)] == [(1, "a"), (3, "~~c~~ d")]
    assert plan_remarks(text) == ("item 2 is not a task: it is struck through",)
    assert planned(f"{text} (after 2)")[1].after == ()


# --- a long list goes in waves --------------------------------------------------------


def test_waves_are_said_and_keep_their_tasks_when_numbers_move() -> None:
    text = "- [ ] a\n- [ ] b\n- [x] c\n- [ ] d"
    [*_, last] = task_graph.renumbered(planned(text, limit=2), 10)
    assert not any(t.waits for t in planned("- [ ] a\n- [ ] b", limit=2))

    assert (last.number, last.after, last.waits[0].on) == (14, (11,), 11)
    assert plan_remarks(text, wave=2) == (
        "its 3 tasks run in 2 waves: 2 are active at a time ([mayor] tasks)",
    )
