"""The first page has the head of each list, and each list pages of its own."""

import re
from html import escape

from bot.dashboard.page_contents import ADDRESSES
from bot.dashboard.pages import PAGE_ROWS, URGENT, list_part
from convoy.events.forge_actions import ItemSetAside
from convoy.model.ids import task_item
from convoy.rules.people import BlockTask
from tests.dashboard.conftest import Opens
from tests.world.rules import NAME, Rules, spec

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


async def test_what_is_set_aside_is_on_the_first_page(opens: Opens) -> None:
    rules = Rules().planned(spec(1))
    why = "the forge refused the push of branch x: <b>no</b>"
    rules.do(ItemSetAside(item=task_item(NAME, 1), why=why, helps="Ask it."))
    async with opens(rules) as visit:
        page = await visit.text("/")

    assert "the forge refused the push of branch x: &lt;b&gt;no&lt;/b&gt;" in page
    assert "brat retry 1" in page


async def test_pages_hold_every_task_once(opens: Opens) -> None:
    seen: list[str] = []
    async with opens(many()) as visit:
        path: str | None = "/tasks?state=queued"
        while path is not None:
            page = await visit.text(path)
            seen += re.findall(r'tasks/(\d+)">', page)
            more = re.search(r'rel="next" href="([^"]+)"', page)
            path = more[1].replace("&amp;", "&") if more else None

    assert [*map(int, seen)] == [*range(URGENT + 3, MANY + 1)]


async def test_pages_and_files_are_packed_for_who_can_read_that(opens: Opens) -> None:
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


async def test_people_get_a_page_that_says_what_is_wrong(opens: Opens) -> None:
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
