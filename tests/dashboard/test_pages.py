"""What the pages show, and that nobody's text can do anything on them."""

import re
import stat
from html import escape
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.dashboard.dashboard_source import (
    MOST_DIFF_LINES,
    MOST_FILES,
    Changes,
    LogHistory,
    changes_in,
)
from bot.dashboard.page_contents import ADDRESSES, printed
from bot.dashboard.pages import PAGE_ROWS, URGENT, list_part
from bot.text.notices import call_text
from convoy.events.forge_actions import ItemSetAside
from convoy.events.people_events import ConvoyPaused, TaskTold
from convoy.events.plan_events import TaskAdded
from convoy.log.record import follow
from convoy.model.ids import task_item
from convoy.rules.calls import Need
from convoy.rules.ending import LoseSession
from convoy.rules.people import BlockTask, DropTask
from convoy.rules.retries import RetryTask
from convoy.text import clean
from convoy.views.history import (
    CONVOYS_KEPT,
    MOST_DECISIONS,
    DecisionHistory,
)
from grite import git
from tests.dashboard.conftest import opens
from tests.world.cases import looped
from tests.world.forge import AUTHOR
from tests.world.kept import Kept
from tests.world.rules import NAME, Rules, sha, spec

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"


def house_of_all() -> Rules:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3), spec(4), spec(5))
    rules.landed(1, sha("a")).started(3).started(4).accepted(4, sha("b"))
    return rules.do(BlockTask(convoy=NAME, task=5, why="no CI here"))


async def test_the_overview_counts_tasks_by_state_and_says_what_waits() -> None:
    async with opens(house_of_all()) as visit:
        page = await visit.text("/")
        lists = {
            state: await visit.text(f"/tasks?state={state}&convoy={NAME}")
            for state in ("queued", "running", "blocked", "needs-review", "merged")
        }

    for number, state in enumerate(("merged", "queued", "running", "needs-review"), 1):
        assert f'/tasks?state={state}&amp;convoy={NAME}">1 {state}</a>' in page
        assert f'/tasks/{number}"><b>{number}</b> ' in lists[state]
        assert lists[state].count('<a class="title"') == 1
    assert "no CI here" in page
    assert "brat retry 5" in page


async def test_a_convoys_tasks_are_shown_as_list_graph_or_plan() -> None:
    async with opens(house_of_all()) as visit:
        shown = await visit.text(f"/convoys/{NAME}")
        graph = await visit.text(f"/convoys/{NAME}?view=graph")
        plan = await visit.text(f"/convoys/{NAME}?view=plan")

    assert "waits for task 1: the plan says so" in plan
    assert "waits for task 1: the plan says so" not in shown
    assert shown.count('<tr id="task-') == 5
    assert "Merge queue" in shown
    assert "waiting for its turn" in shown
    assert graph.count('<a class="task ') == 5
    assert graph.count('<path class="arrow') == 1
    assert '?view=graph" aria-current="true"' in graph


async def test_a_convoys_page_has_its_plan_and_hostile_paths_do_nothing() -> None:
    rules = Rules().planned(
        spec(1, paths=("src/<b>.py", "CLAUDE.md"), acceptance=HOSTILE),
        spec(2, after=(1,), why=HOSTILE),
        approve="plan",
    )
    async with opens(rules) as visit:
        page = await visit.text(f"/convoys/{NAME}")

    assert "<code>src/&lt;b&gt;.py</code>, <code>CLAUDE.md</code>" in page
    assert "needs protected paths: CLAUDE.md" in page
    assert "waits for task 1: the plan says so" in page
    assert "brat approve fix-7" in page
    assert "<script>alert" not in page


async def test_the_log_is_filtered() -> None:
    async with opens(house_of_all()) as visit:
        everything = await visit.text("/log")
        some = await visit.text("/log?words=landed")
        none = await visit.text("/log?convoy=other")
        other = await visit.text("/log?task=9&kind=landing&by=ann")

    assert "ConvoyPlanned" in everything
    assert ("MergeLanded" in some, "ConvoyPlanned" in some) == (True, False)
    assert "No events match" in none
    assert "No events match" in other
    assert 'name="by" size="10" value="ann"' in other


async def test_hostile_text_stays_text() -> None:
    task = spec(1, title=HOSTILE, instructions=HOSTILE, paths=(HOSTILE,))
    rules = Rules().planned(task, spec(2)).started(1)
    lost = LoseSession(convoy=NAME, task=1, attempt=1, cause="lost", why=HOSTILE)
    rules.do(lost, BlockTask(convoy=NAME, task=2, why=HOSTILE))
    async with opens(rules) as visit:
        for path in ("/", f"/convoys/{NAME}", f"/convoys/{NAME}/tasks/1", "/log"):
            page = await visit.text(path)
            assert "<script>alert" not in page, path
            assert "<img" not in page, path
            assert "{{ 7 * 7 }}" in page or path == "/log"


@looped(
    (
        "\x1b[31mno\x1b[0m, \x1b[01;92myes",
        '<i class="red">no</i>, <i class="bold green">yes',
    ),
    ("\x1b[1m\x1b[38;5;31ma\x1b[22mb\x1b[48;2;1;2;31;7mc", '<i class="inverse">c'),
    ("\x1b[4mtwo\nlines\x1b[m.", '<i class="underline">lines</i>.'),
    ("\x1b[91m<b>\x1b[0m\"'>", '<i class="red">&lt;b&gt;</i>&#34;&#39;&gt;'),
    ("\x1b[7;1\x1b[31mx\x1b[39my", '<i class="red">x</i>y'),
    ("a\x1b[2J\x1b[5;99m\x1b[" + "1" * 40 + "m\u202eb", "ab"),
)
def test_a_terminals_colours_are_classes_of_ours(said: str, shown: str) -> None:
    text = clean(said, colours=True)

    assert clean(text, colours=True) == text
    assert shown in printed(text, "/here")
    assert '<a href="/here#L1">1</a>' in printed(text, "/here")
    assert "\x1b" not in printed(text, "") + clean(text)


async def test_every_answer_forbids_what_pages_do_not_need() -> None:
    async with opens(house_of_all()) as visit:
        answers = [
            await visit.http.get(path)
            for path in ("/", "/nope", "/static/nope/brat.css", ADDRESSES["brat.css"])
        ]

    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    assert [answer.status_code for answer in answers] == [200, 404, 404, 200]
    assert "immutable" in answers[3].headers["Cache-Control"]
    assert answers[0].headers["Cache-Control"] == "no-store"


async def test_a_line_that_an_agent_printed_is_found() -> None:
    said = "Reading login.py\nThe Frobnicator says <b>no</b>\nBye\n"
    rules = Rules().planned(spec(1), spec(2)).started(1)
    async with opens(rules, output=lambda _: said) as visit:
        found = await visit.text("/search?words=frobnicator+NO")
        of_two_lines = await visit.text("/search?words=login.py+frobnicator")

    assert "Agent output" in found
    assert "The Frobnicator says &lt;b&gt;no&lt;/b&gt;" in found
    assert "Reading login.py" not in found
    assert "No results contain all of these words" in of_two_lines


async def test_only_what_would_be_carried_out_is_offered() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)))
    why = "the forge refused the push of branch x: <b>no</b>"
    rules.do(ItemSetAside(item=task_item(NAME, 1), why=why, helps="Ask it."))
    async with opens(rules) as visit:
        aside = await visit.text("/")
    rules.do(BlockTask(convoy=NAME, task=1, why="no CI here"))
    async with opens(rules) as visit:
        blocked = await visit.text("/waits")
    rules.dropped(1, "not wanted")
    async with opens(rules) as visit:
        lacking = await visit.text("/waits")
    told = call_text(rules.convoy, (Need(key="blocked/2/0", task=2),))

    assert "the forge refused the push of branch x: &lt;b&gt;no&lt;/b&gt;" in aside
    assert "brat retry 1" in aside
    assert 'aria-label="retry task 1 ' in blocked
    assert 'aria-label="drop task 2 ' in lacking
    assert 'aria-label="retry task 2 ' not in lacking
    assert "Say `/brat drop 2`." in told


# --- the head of each list, and each list in pages of its own -------------------------


MANY = 2 * PAGE_ROWS + 3


def many() -> Rules:
    """A convoy with three pages of tasks, of which two wait for a person."""
    rules = Rules().planned(*(spec(number) for number in range(1, MANY + 1)))
    for number in range(1, URGENT + 3):
        rules.do(BlockTask(convoy=NAME, task=number, why="no CI"))
    return rules


def test_a_page_is_the_nearest_there_is() -> None:
    firsts = ("", "1", "0", "-1", "x", "²", "9" * 5000)
    numbers = dict.fromkeys(firsts, 1) | {"2": 2, "3": 3, "4": 3}
    for wanted, number in numbers.items():
        found = list_part(range(MANY), wanted)

        assert (found.number, found.last, found.count) == (number, 3, MANY), wanted
        assert found.rows[0] == (number - 1) * PAGE_ROWS


async def test_pages_hold_every_task_once() -> None:
    seen: list[str] = []
    async with opens(many()) as visit:
        path: str | None = "/tasks?state=queued"
        while path is not None:
            page = await visit.text(path)
            seen += re.findall(r'tasks/(\d+)">', page)
            more = re.search(r'rel="next" href="([^"]+)"', page)
            path = more[1].replace("&amp;", "&") if more else None

    assert [*map(int, seen)] == [*range(URGENT + 3, MANY + 1)]


async def test_pages_and_files_are_packed_for_who_can_read_that() -> None:
    plain = {"Accept-Encoding": "identity"}
    async with opens(many()) as visit:
        for path in ("/", "/log", f"/convoys/{NAME}/tasks/1", ADDRESSES["brat.css"]):
            packed = await visit.http.get(path)
            whole = await visit.http.get(path, headers=plain)
            refused = await visit.http.get(
                path, headers={"Accept-Encoding": "gzip;q=0"}
            )
            assert packed.headers["Content-Encoding"] == "gzip", path
            assert packed.headers["Vary"] == "Accept-Encoding"
            assert "Content-Encoding" not in whole.headers
            assert packed.content == whole.content == refused.content


async def test_people_get_a_page_that_says_what_is_wrong() -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    hostile = "/convoys/%3Cscript%3Ealert(1)%3C%2Fscript%3E"
    async with opens(many()) as visit:
        for path in ("/nope", f"/convoys/{NAME}/tasks/999", "/?token=guess", hostile):
            page = await visit.http.get(path, headers=browser)
            program = await visit.http.get(path)

            said, status = program.text.strip(), 403 if "token" in path else 404
            assert (page.status_code, program.status_code) == (status, status), path
            assert page.headers["Content-Type"].startswith("text/html")
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            assert f"<p>{escape(said)}</p>" in page.text
            assert f"{status}: " not in page.text
            assert "<script>alert" not in page.text
            assert "<title>" in page.text


# --- what a task or a convoy changes: real commits, and hostile ones ------------------


HOSTILE_LINE = '</pre><script>alert(1)</script>\x1b]0;owned\x07 "quoted"\n'


def committed(folder: Path, message: str) -> str:
    git.run(["add", "--all"], cwd=folder)
    git.run(["commit", "--quiet", "--message", message], cwd=folder, env=AUTHOR)
    return git.run(["rev-parse", "HEAD"], cwd=folder).stdout.decode().strip()


def repository(folder: Path) -> tuple[str, str]:
    git.run(["init", "--quiet", "--initial-branch=main", str(folder)])
    (folder / "old.py").write_text("".join(f"line {n}\n" for n in range(9)))
    (folder / "picture.png").write_bytes(b"\0before")
    (folder / "gone.txt").write_text("gone\n")
    base = committed(folder, "Begin")
    (folder / "old.py").rename(folder / "new.py")
    with (folder / "new.py").open("a") as file:
        file.write(HOSTILE_LINE)
    (folder / "picture.png").write_bytes(b"\0after")
    (folder / "gone.txt").unlink()
    (folder / "new.py").chmod(stat.S_IRWXU)
    return base, committed(folder, "Change")


async def test_a_tasks_and_a_convoys_page_show_what_they_change(tmp_path: Path) -> None:
    base, commit = repository(tmp_path)
    real = changes_in(tmp_path)
    rules = Rules().planned(spec(1), spec(2)).started(1).accepted(1, sha("c"), "new.py")
    rules.offered(1, sha("d"), sha("0")).landed_as(1, sha("d"))
    asked: list[tuple[str, str]] = []

    def changes(begin: str, end: str) -> Changes | None:
        asked.append((begin, end))
        return real(base, commit)

    async with opens(rules, changes=changes) as visit:
        task = await visit.text(f"/convoys/{NAME}/tasks/1")
        whole = await visit.text(f"/convoys/{NAME}/changes")
        none = await visit.text(f"/convoys/{NAME}/tasks/2")

    assert asked == [(sha("0"), sha("d")), (rules.convoy.base, sha("d"))]
    assert 'id="changes"' not in none
    for page in (task, whole):
        assert "3 files" in page
        assert "<code>old.py → new.py</code>" in page
        assert '"plus" data-at="10">+<i>&lt;/pre&gt;&lt;script&gt;alert(1)' in page
        assert '"minus" data-at="1">-<i>gone' in page
        assert "the file is binary" in page
        assert "<script>alert" not in page
        assert "\x1b" not in page


def test_much_is_cut_and_what_is_not_there_is_none(tmp_path: Path) -> None:
    base, commit = repository(tmp_path)
    for n in range(MOST_FILES + 9):
        (tmp_path / f"many-{n}.txt").write_text("a line\n" * 40)
    big = committed(tmp_path, "Much")

    found = changes_in(tmp_path)(commit, big)

    assert found is not None
    assert (found.count, len(found.files)) == (MOST_FILES + 9, MOST_FILES)
    assert sum(len(each.lines) for each in found.files) == MOST_DIFF_LINES
    assert changes_in(tmp_path)(base, sha("a")) is None
    assert changes_in(tmp_path)(f"{big}^", big) == found


# --- pages over a real log: what people decided, and what landed when -----------------


@pytest.fixture
def told(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "log.git")


def history_of(told: Kept) -> LogHistory:
    return LogHistory(told.path, lambda: follow(told.log, str(told.log.head())))


async def test_analytics_read_on_as_changes_land(told: Kept) -> None:
    async with opens(told.rules, history=history_of(told)) as visit:
        before = await visit.text("/analytics")
        told.rules.landed(1, sha("a"))
        told.tell()
        after = await visit.text("/analytics")

    assert "No change has landed" in before
    assert "1 change landed in 1 day" in after
    assert "<title>1970-01-01: 1</title>" in after
    assert "CI time per landed change" in after
    assert "Cost per landed change" not in after  # no session told its cost
    assert 'href="/analytics" aria-current="page"' in after


async def test_the_newest_decision_comes_first(told: Kept) -> None:
    told.rules.do(
        TaskTold(convoy=NAME, task=1, by="bea", text="Keep <b>names</b>."),
        BlockTask(convoy=NAME, task=1, why="no CI"),
        RetryTask(convoy=NAME, task=1, by="dan"),
        BlockTask(convoy=NAME, task=1, why="stopped by fay", by="fay"),
        ConvoyPaused(convoy=NAME, by="<i>eve</i>"),
        DropTask(convoy=NAME, task=1, why="dropped by gus", by="gus"),
    )
    told.tell()
    async with opens(told.rules, history=history_of(told)) as visit:
        page = await visit.text(f"/convoys/{NAME}")

    _, _, shown = page.partition('id="decisions"')
    who = ["gus", "&lt;i&gt;eve&lt;/i&gt;", "fay", "dan", "bea"]
    found = [shown.index(f">{by} (write), <time") for by in who]
    assert found == sorted(found)
    assert shown.count(" (write), <time") == len(who) + 1  # who asked for it all
    assert "Keep &lt;b&gt;names" in shown


def test_the_newest_of_what_people_decided_are_kept() -> None:
    history = DecisionHistory()
    for at in range(MOST_DECISIONS + 5):
        history.read(at, ConvoyPaused(convoy="old", by="eve"))
    kept = history.of("old")
    for number in range(CONVOYS_KEPT):
        history.read(0, ConvoyPaused(convoy=f"c-{number}", by="eve"))

    assert (len(kept), kept[0].at) == (MOST_DECISIONS, MOST_DECISIONS + 4)
    assert history.of("old") == ()
    assert len(history.of("c-0")) == 1

    # what a role did is no person's decision
    added = TaskAdded(convoy="c", spec=spec(2), by="the refinery")
    for fact in (added, replace(added, by="eve")):
        history.read(0, fact)

    assert [each.by for each in history.of("c")] == ["eve"]
    assert added.sentence() == "The refinery added task 2."
