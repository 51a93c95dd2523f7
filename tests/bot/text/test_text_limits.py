"""Whatever a convoy is like, no text of the bot is longer than a forge takes."""

import ast
import re
from pathlib import Path
from string import Formatter
from typing import get_args

from hypothesis import given, settings as profile, strategies as st
from msgspec.structs import replace

import bot
from bot.requests.answers import convoy_comment
from bot.text import PHRASES, phrase, replies
from bot.text.pull_request_texts import (
    check_views,
    convoy_pull_body,
    pull_title,
    task_pull_body,
)
from bot.text.replies import Reply
from convoy.model.state import Convoy, Task, TaskState
from convoy.model.work import Approval, Gesture, HandedIn
from convoy.text import POST_CHARS, SUMMARY_CHARS, TITLE_CHARS
from tests.world.rules import Rules, sha, spec

TITLES = st.sampled_from(["&" * 300, "<b>" * 100, "A title. " * 40, "Fix", "|" * 256])
STATES: tuple[TaskState, ...] = (
    *("queued", "running", "needs-review"),
    *("merged", "blocked", "dropped"),
)
MANY = 100


def convoy(words: str, state: TaskState) -> Convoy:
    """Return a convoy in which everything is as long as these words."""
    plan = Rules().planned(*(spec(n + 1) for n in range(MANY)), tasks=MANY).convoy
    return replace(
        plan,
        title=words,
        why=words,
        warnings=(words,) * MANY,
        tasks=tuple(_task(task, words, state) for task in plan.tasks),
    )


def _task(task: Task, words: str, state: TaskState) -> Task:
    after = tuple(range(1, task.number))[-5:]
    return replace(
        task,
        spec=replace(task.spec, title=words, after=after),
        state=state,
        why=words,
        pull=task.number,
        landed=sha("a") if state == "merged" else None,
        handed_in=HandedIn(1, sha("a")),
        approvals=(Approval(by="ann", commit=sha("a")),) * 10,
    )


@profile(max_examples=30, deadline=None)
@given(
    words=TITLES,
    tasks=st.sampled_from(STATES),
    state=st.sampled_from(("planning", "active", "paused", "complete", "failed")),
)
def test_no_text_is_too_long(words: str, tasks: TaskState, state: str) -> None:
    found = replace(convoy(words, tasks), state=state, offered=sha("b"))

    assert len(convoy_comment(found)) < POST_CHARS
    assert len(convoy_pull_body(found, "https://example.org/octo/project")) < POST_CHARS
    assert len(pull_title(found, None)) <= TITLE_CHARS
    for task in found.tasks[:3]:
        assert len(task_pull_body(found, task)) < POST_CHARS
        assert len(pull_title(found, task)) <= TITLE_CHARS
    texts = [convoy_comment(found)]
    for view in check_views(found, "https://example.org/octo/project"):
        texts.append(view.summary)
        assert len(view.summary) < SUMMARY_CHARS
        assert len(view.title) <= TITLE_CHARS
    assert not any(re.search(r"[^.]\.\.(?!\.)", each) for each in texts)


def test_what_is_left_out_of_a_text_is_said_with_where_to_read_it() -> None:
    """A long answer is cut between lines, and its code is closed."""
    found = convoy("&" * 300, "queued")
    comment = convoy_comment(found)

    assert "more: `brat convoy show fix-7` lists all of them |" in comment
    assert "- [ ] Cancel the convoy" in comment
    landed = convoy("&" * 300, "merged")
    assert "more: `brat report fix-7`" in convoy_pull_body(landed)

    line = "A line of output."
    said = "\n".join(["```", *[line] * 6_000, "```"])

    text = replies.text("ann", [Reply("rocket", f"Here:\n{said}")])

    assert len(text) <= POST_CHARS
    assert text.endswith(f"{line}\n```\n\n{phrase('answer-cut')}")
    assert replies.text("ann", [Reply("rocket", "So.")]) == "@ann So."


def test_each_phrase_is_said_with_what_it_has_places_for() -> None:
    said: dict[str, set[str]] = {}
    for file in Path(bot.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "phrase":
                name = ast.unparse(call.args[0]).strip("'\"")
                said[name] = {str(each.arg) for each in call.keywords}
    del said["f'taken-out-{out.gesture}"]
    said |= {f"taken-out-{gesture}": set() for gesture in get_args(Gesture)}
    said["taken-out-base"] = {"base", "wanted"}

    places = {
        name: {place for _, place, _, _ in Formatter().parse(text) if place}
        for name, text in PHRASES.items()
    }
    assert said == places
