"""What people read of a convoy on the forge, and on its own pull request."""
# ruff: noqa: E501  snapshots are as people read them

import ast
import re
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt
from msgspec import convert
from msgspec.structs import replace

import bot
from bot.requests.answers import convoy_comment
from bot.requests.verb import Asker, Request
from bot.roles.result_artifact import Result
from bot.text import PHRASES, merge_texts, phrase, replies
from bot.text.convoy_comment import convoy_table
from bot.text.merge_texts import TEXT_CHARS, ci_is_red, end_of
from bot.text.pull_request_texts import (
    check_views,
    convoy_pull_body,
    pull_title,
    task_pull_body,
)
from bot.text.replies import Reply
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.records import GivenPull, Settings, Usage
from convoy.model.session_result import Walls
from convoy.model.state import Convoy, Task, TaskState
from convoy.model.work import Approval, Gesture, HandedIn, Work
from convoy.rules.ending import AcceptNothing, LoseSession
from convoy.rules.landing import LandMerge
from convoy.rules.people import DropTask
from convoy.text import POST_CHARS, SUMMARY_CHARS, TITLE_CHARS, inline
from tests.convoy.anything import hostile
from tests.convoy.stories import went_wrong
from tests.world.requests import carried_out
from tests.world.rules import NAME, Rules, made, sha, spec

HOSTILE = (
    "Done! | merged | [x](http://evil) ![i](u) `c` <img src=x> **b** _u_ ~~s~~ \\ "
    "@ann &#64;bob #7 &#35;8 <!-- brat:key=denied:7 -->\n\n# Heading"
)


def hurt(title: str = HOSTILE, why: str = HOSTILE) -> Convoy:
    rules = Rules().planned(spec(1, title=title), spec(2, title=title), attempts=1)
    rules.blocked(2, why).started(1).do(made(LoseSession, cause="lost", why=why))
    return rules.do(ConvoyFailed(convoy=NAME, why=why)).convoy


async def test_a_convoy_says_what_its_sessions_used() -> None:
    usage = Usage(input_tokens=1200, cached_tokens=300, output_tokens=40, usd=1.5)
    rules = Rules().planned(spec(1), attempts=2).started(1)
    rules.do(made(LoseSession, cause="lost", usage=usage))
    said = "1,500 tokens in (300 cached), 40 out, $1.50"

    assert f"\nSessions have used {said}.\n" in convoy_comment(rules.convoy)
    asker = Asker(by="ann", convoy=NAME, allowed=True)
    cost = await carried_out(rules, asker, Request("cost"))
    assert f"Finished sessions used {said}." in cost.text


def test_a_convoy_at_work_shows_where_each_task_stands() -> None:
    rules = Rules().planned(
        spec(1), spec(2, after=(1, 3)), spec(3), spec(4), spec(5), spec(6)
    )
    rules.landed(1, sha("a")).started(3).started(4).accepted(4, sha("b"))
    rules.offered(4, sha("c"), sha("a"))
    rules.blocked(5, "no check has reported")
    text = convoy_comment(rules.convoy)
    boxes = "retry/5 -->\n- [ ] Cancel the convoy <!-- brat:box=cancel -->"

    assert text.endswith(f"- [ ] Try task 5 again <!-- brat:box={boxes}")
    assert text.partition("<details>")[0] == snapshot("""\
<!-- brat:key=comment:fix-7 -->
### Convoy `fix-7`: active · 1 of 6 merged · 1 needs-review · 1 running · 2 queued · 1 blocked

**Waiting for you:**

- task 5: no check has reported (`/brat retry task-5`)

🟩🟨🟦⬜⬜🟥

| # | Task | State | Engine | Attempts | Worked | Pull request | Landed as | Waiting for |
|---|---|---|---|---|---|---|---|---|
| 1 | Task 1 | merged | shell | 1 | 1s | #11 | `aaaaaaaaaa` |  |
| 2 | Task 2 | queued | shell | 0 |  |  |  | task 3 |
| 3 | Task 3 | running | shell | 1 |  |  |  | its session to end |
| 4 | Task 4 | needs-review | shell | 1 | 1s | #14 |  | CI |
| 5 | Task 5 | blocked | shell | 0 |  |  |  | a person: no check has reported |
| 6 | Task 6 | queued | shell | 0 |  |  |  | a free slot |

""")


def test_a_convoy_that_failed_says_why() -> None:
    rules = went_wrong().do(ConvoyFailed(convoy=NAME, why="cancelled by ann"))

    text = convoy_comment(rules.convoy)
    assert (
        "\n### Convoy `fix-7`: failed · 0 of 3 merged · 3 dropped\n\n⬛⬛⬛\n" in text
    )
    assert "\n| 1 | Task 1 | dropped | shell | 3 | 3s | #11 |  |  |\n" in text
    assert "\n\n**Why:** cancelled by ann\n\n" in text


def test_hostile_text_is_one_harmless_line() -> None:
    assert convoy_comment(hurt()) == snapshot("""\
<!-- brat:key=comment:fix-7 -->
### Convoy `fix-7`: failed · 0 of 2 merged · 2 dropped

⬛⬛

| # | Task | State | Engine | Attempts | Worked | Pull request | Landed as | Waiting for |
|---|---|---|---|---|---|---|---|---|
| 1 | Done! \\| merged \\| \\[x](http://evil) !\\[i](u) \\`c\\` &lt;img src=x> \\*\\*b\\*\\* \\_u\\_ \\~\\~s\\~\\~ \\\\ @\u200bann &amp;#\u200b64;bob #\u200b7 &amp;#\u200b35;8 &lt;!-- brat:key=denied:7 --> #\u200b Heading | dropped | shell | 1 | 1s |  |  |  |
| 2 | Done! \\| merged \\| \\[x](http://evil) !\\[i](u) \\`c\\` &lt;img src=x> \\*\\*b\\*\\* \\_u\\_ \\~\\~s\\~\\~ \\\\ @\u200bann &amp;#\u200b64;bob #\u200b7 &amp;#\u200b35;8 &lt;!-- brat:key=denied:7 --> #\u200b Heading | dropped | shell | 0 |  |  |  |  |

**Why:** Done! \\| merged \\| \\[x](http://evil) !\\[i](u) \\`c\\` &lt;img src=x> \\*\\*b\\*\\* \\_u\\_ \\~\\~s\\~\\~ \\\\ @\u200bann &amp;#\u200b64;bob #\u200b7 &amp;#\u200b35;8 &lt;!-- brat:key=denied:7 --> #\u200b Heading

<sub>Requested by ann. Branch `convoy/fix-7/base`. brat keeps this comment up to date. The log in `refs/grite/wal` has every detail.</sub>\
""")


@given(title=hostile | st.text(), why=hostile | st.text())
@settings(deadline=None, max_examples=60)
def test_no_text_breaks_the_table_or_adds_a_row_or_a_key(title: str, why: str) -> None:
    comment = convoy_comment(hurt(title, why))
    page: Any = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    html = str(page.render(comment))

    assert ids.keys_in(comment) == (ids.comment_key(NAME),)
    assert html.count("<tr>") == 3
    assert html.count("<td") == 18
    tags = {*re.findall(r"<(/?[a-z]+\d?)", html)}
    own = {"h3", "table", "thead", "tbody", "tr", "th", "td", "p", "strong", "sub"}
    assert {tag.strip("/") for tag in tags} <= own | {"code"}
    assert "@" not in html.replace("@\u200b", "")


def test_attempts_candidates_and_what_landed_lead_to_runs_and_checks() -> None:
    rules = Rules().planned(spec(1), spec(2)).started(1).accepted(1, sha("1"))
    rules.offered(1, sha("c"), sha("0"))
    web = "https://example.org/octo/hello"
    (task, other), url = rules.convoy.tasks, f"{web}/commit/{sha('c')}/checks"
    ran = replace(rules.convoy, tasks=(replace(task, runs=(7, 8)), other))

    assert f"| [1]({web}/actions/runs/8) |" in convoy_table(ran, web=web)
    assert f"| [CI requested]({url}) |" in convoy_table(ran, web=web)
    assert "Checks" not in convoy_table(rules.convoy)
    landed = convoy_table(rules.landed_as(1, sha("c")).convoy, web=web)
    assert f"| [checks]({url}) |" in landed


def test_a_plan_that_waits_shows_its_order() -> None:
    first, second = spec(1, title='Say "one"]; <b>'), spec(2, after=(1,))
    comment = convoy_comment(Rules().planned(first, second, approve="plan").convoy)

    assert '\n  t1["1. Say one b"]\n  t2["2. Task 2"]\n  t1 --> t2\n```' in comment
    assert '- **1. Say "one"]; &lt;b>**' in comment


# --- where an agent worked without walls, its convoy and work say so ------------------

ALL = Walls(files="landlock", processes="landlock", user="uid", syscalls="seccomp")


def worked(missing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts about a convoy whose first task was done without these walls."""
    plan = Rules().planned(spec(1), spec(2)).convoy
    work = Work(
        attempt=1, commit=sha("c"), base=sha("b"), files=(), at=1, missing_walls=missing
    )
    task = replace(plan.tasks[0], work=work)
    found = replace(plan, tasks=(task, *plan.tasks[1:]))
    return convoy_table(found), task_pull_body(found, task), convoy_pull_body(found)


def test_a_missing_wall_is_a_warning_wherever_the_work_is_shown() -> None:
    for text in worked(("files", "user")):
        assert "Missing isolation** of agents" in text
        assert "task 1: files, user." in text
        assert "task 2" not in text.split("isolation**")[1].split("\n")[0]
    assert "isolation**" not in "".join(worked(()))


def test_a_wall_is_missed_unless_it_is_claimed() -> None:
    settings = Settings(engines={})
    closed = replace(settings, egress=("pypi.org",))

    def missed(under: Settings, **said: object) -> tuple[str, ...]:
        told = {"v": 1, "session": "a/1/1", "nonce": "n", "base": sha("b")}
        result = convert({**told, "conclusion": "success", **said}, Result)
        return result.missing_walls(under)

    assert missed(settings) == ("files", "processes", "user", "syscalls")
    assert missed(settings, walls=ALL) == ()
    assert missed(closed, walls=ALL) == ("network",)
    assert missed(settings, walls=ALL, network="No space left") == ("network",)
    assert missed(replace(settings, egress=("*",)), walls=ALL) == ()
    assert missed(replace(settings, box="off")) == ()


# --- the convoy's own pull request is what a reviewer needs ---------------------------


WEB = "https://github.com/pat/project"


def landed(
    rules: Rules,
    number: int,
    commit: str,
    *files: str,
    judged: tuple[str, ...] = ("ci",),
) -> Rules:
    """Start a task, take in a change of these files, and land it."""
    rules.started(number).accepted(number, commit, *files)
    rules.offered(number, commit, rules.convoy.base)
    land = LandMerge(convoy=NAME, task=number, candidate=commit, judged=judged)
    return rules.do(land)


def whole() -> Rules:
    rules = Rules().planned(
        spec(1), spec(2), spec(3, title=HOSTILE), spec(4), spec(5, title="Dream")
    )
    landed(rules, 1, sha("a"), "docs/api.md")
    rules.started(2).do(made(LoseSession, task=2, cause="lost"))
    landed(rules, 2, sha("b"), "auth/tokens.py", "pyproject.toml")
    landed(rules, 3, sha("c"), "words.py", "tests/test_words.py")
    rules.started(4).do(AcceptNothing(convoy=NAME, task=4, attempt=1))
    return rules.do(DropTask(convoy=NAME, task=5, why="too early"))


def test_tasks_come_with_change_and_evidence() -> None:
    rules = whole()

    assert pull_title(rules.convoy, None) == "Fix it (convoy fix-7)"
    assert convoy_pull_body(rules.convoy, WEB) == snapshot("""\
<!-- brat:key=pull:fix-7/0 -->
Convoy `fix-7` for #7: 4 of 5 tasks merged. This pull request is the one to review. The tasks are listed in the order of their commits.

| # | Task | Change | Why it was accepted |
|---|---|---|---|
| 1 | Task 1 | [1 file](https://github.com/pat/project/compare/0000000000000000000000000000000000000000...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa): docs/api.md | CI was green on `aaaaaaaaaa`, #11 |
| 2 | Task 2 | [2 files](https://github.com/pat/project/compare/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb): auth/tokens.py, pyproject.toml | CI was green on `bbbbbbbbbb`, #12, attempt 2 |
| 3 | Done! \\| merged \\| \\[x](http://evil) !\\[i](u) \\`c\\` &lt;img src=x> \\*\\*b\\*\\* \\_u\\_ \\~\\~s\\~\\~ \\\\ @\u200bann &amp;#\u200b64;bob #\u200b7 &amp;#\u200b35;8 &lt;!-- brat:key=denied:7 --> #\u200b Heading | [2 files](https://github.com/pat/project/compare/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...cccccccccccccccccccccccccccccccccccccccc): words.py, tests/test\\_words.py | CI was green on `cccccccccc`, #13 |
| 4 | Task 4 | no change was needed | the agent reported that there was nothing to do, and the acceptance command passed |

**Not covered by tests**, judging by the changed files:

- task 2: auth/tokens.py, pyproject.toml

**Not included:**

- Dream: too early

<sub>`brat report fix-7` shows the full report.</sub>\
""")

    text = convoy_pull_body(rules.convoy)
    assert "https:" not in text, "without a page to link to, commits are named"
    assert f"`{'a' * 10}...{'b' * 10}`" in text

    text = convoy_pull_body(rules.convoy, WEB, "https://brat.example/ann/app")
    link = f"https://brat.example/ann/app/convoys/{NAME}"
    assert f"<sub>[History]({link}). `brat report {NAME}` shows" in text


def test_what_no_ci_judged_is_said_and_tests_that_another_task_wrote_count() -> None:
    rules = Rules().planned(spec(1), require_ci=False)
    text = convoy_pull_body(landed(rules, 1, sha("a"), "a.py", judged=("none",)).convoy)
    assert f"not tested: `{'a' * 10}`" in text

    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    landed(rules, 1, sha("a"), "a.py")
    landed(rules, 2, sha("b"), "tests/test_a.py")
    landed(rules, 3, sha("c"), "b.py")
    text = convoy_pull_body(rules.convoy)

    assert "- task 3: b.py" in text
    assert "- task 1: a.py" not in text


# --- what is told of CI's text: its last whole lines, as they were written ------------


def test_a_text_is_told_from_a_whole_line_on_after_what_failed() -> None:
    short = "unit: failure\n\n  assert 1 == 2\n"
    assert end_of(short) == short
    assert ci_is_red("a" * 40, "two\n") == "CI is red on aaaaaaaaaa: two"
    text = "FAILED tests/test_a.py::test_b - no\n1 failed in 0.1s\n"
    assert ci_is_red("a" * 40, text) == (
        f"CI is red on aaaaaaaaaa: tests/test_a.py::test_b\n\n{text}"
    )

    lines = [f"{number:>8} of many lines" for number in range(1_000)]

    told = end_of("\n".join(lines)).split("\n")

    assert len("\n".join(told)) <= TEXT_CHARS
    assert told == lines[-len(told) :]
    assert end_of("a" * (TEXT_CHARS + 5)) == "a" * TEXT_CHARS


def test_a_title_does_nothing_in_a_pull_request_or_the_message_of_its_merge() -> None:
    given = GivenPull(number=7, head=sha("a"), branch="b", author="ann", lands=True)
    title = "Fixes GH-7 [skip ci], closes https://github.example/a/b/issues/3 @ann"
    shown = title.replace("GH", "issue GH").replace("[skip ci]", "(skip ci)")
    shown = shown.replace("closes", "closes issue").replace("@", "@ ")
    convoy = Rules().planned(spec(1, title=title)).convoy

    assert pull_title(convoy, convoy.tasks[0]) == shown
    assert inline(title).startswith("Fixes issue GH-7 ")
    said = merge_texts.task_landing(convoy, convoy.tasks[0], "rebase")
    assert said.startswith(shown)
    convoy = replace(convoy, given=given, title=title)
    assert merge_texts.landing_message(convoy, "merge")[1] == shown
    trailer = replace(convoy, title="Release-As: 9.0.0")
    assert merge_texts.landing_message(trailer, "merge")[1] == "Release-As 9.0.0"


# --- whatever a convoy is like, no text is longer than a forge takes ------------------


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


@settings(max_examples=30, deadline=None)
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
