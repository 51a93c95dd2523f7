"""News reaches whoever watches, and programs read the same as `brat status --json`."""

import asyncio

import pytest

from bot.dashboard.application import MOST_STREAMS, ROOT
from convoy import views
from convoy.events.people_events import ConvoyPaused
from convoy.views.interventions import Intervention, unusable_config
from grite.errors import Unavailable
from tests.dashboard.conftest import blocked, opens
from tests.world.patience import patient
from tests.world.rules import NAME, Rules, sha, spec


async def test_a_change_is_told_to_all_who_watch() -> None:
    rules = Rules().planned(spec(1))
    async with opens(rules) as visit, asyncio.timeout(patient(20)):
        async with (
            visit.http.stream("GET", "/events") as one,
            visit.http.stream("GET", f"{ROOT}/events") as two,
        ):
            rules.do(ConvoyPaused(convoy=NAME, by="ann"))
            told = [await anext(each.aiter_lines()) for each in (one, two)]
            kinds = {each.headers["Content-Type"] for each in (one, two)}
        page = await visit.text(f"/convoys/{NAME}")

    assert told == ["event: changed", "event: changed"]
    assert kinds == {"text/event-stream"}
    assert "paused" in page


async def test_readers_who_have_gone_do_not_count() -> None:
    """A person who opens page after page leaves a stream behind with each."""
    async with opens(Rules().planned(spec(1))) as visit:
        for _ in range(MOST_STREAMS + 8):
            async with visit.http.stream("GET", "/events") as events:
                assert events.status_code == 200


async def test_programs_get_what_the_command_prints() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)))
    async with opens(rules) as visit:
        whole = (await visit.http.get("/api/v1/status")).json()
        convoy = (await visit.http.get(f"/api/v1/convoys/{NAME}")).json()
        task = (await visit.http.get(f"/api/v1/convoys/{NAME}/tasks/2")).json()
        paused = await visit.http.post(f"/api/v1/convoys/{NAME}/pause")

    plan = convoy.pop("plan")["tasks"]
    assert [task["title"] for task in plan] == ["Task 1", "Task 2"]
    assert whole["convoys"] == [convoy]
    assert convoy["tasks"][1]["waits_for"] == "task 1"
    assert task["reasons"][1] == "it is waiting for task 1 (queued)"
    assert whole["schema_version"] == views.SCHEMA_VERSION
    assert paused.json() == {"done": True}
    assert rules.convoy.state == "paused"


async def test_a_sessions_output_is_shown_and_asked_for_until_it_ends() -> None:
    rules = Rules().planned(spec(1)).started(1)
    task = f"/convoys/{NAME}/tasks/1"
    async with opens(rules) as visit:
        page = await visit.text(task)
        during = await visit.http.get(f"{task}/output")
        async with visit.http.stream("GET", "/events") as events:
            rules.accepted(1, sha("a"))
            await anext(events.aiter_lines())
        after = await visit.text(task)
        last = await visit.http.get(f"{task}/output")

    assert "run 101 says &lt;b&gt;hi&lt;/b&gt;" in page
    assert f'hx-get="{task}/output?run=101"' in page
    assert (during.status_code, last.status_code) == (200, 286)
    assert during.text == last.text
    assert "</a>run 101 says &lt;b&gt;hi&lt;/b&gt;\n" in last.text
    assert "run 101 says" in after


async def test_output_that_only_the_forge_has_is_linked() -> None:
    """So it is where jobs run without a bot beside them."""
    rules = Rules().planned(spec(1)).started(1)
    web = "https://git.example/pat/project"
    async with opens(rules, output=None, web=web) as visit:
        page = await visit.text(f"/convoys/{NAME}/tasks/1")

    assert "The output is not available here. See" in page
    assert f'<a href="{web}/actions/runs/101">run 101</a>' in page
    assert 'hx-trigger="every' not in page


# --- what waits for a person that no event says, as `brat status` shows it ------------


async def test_all_kinds_are_on_the_pages_and_in_the_interface() -> None:
    start = ("brat daemon start",)
    down = Intervention(kind="bot_down", why="the bot ended", commands=start)
    wrong = unusable_config("config.toml: refinery.strategy: unknown\nand another")
    fault = f"{sha('f')}: chunk is cut off"
    async with opens(blocked(), here=lambda: (wrong, down), faults=(fault,)) as visit:
        told = (await visit.http.get("/api/v1/status")).json()["interventions"]
        pages = [await visit.text("/"), await visit.text("/waits")]

    kinds = ["config_error", "bot_down", "log_damaged", "blocked_task"]
    assert [each["kind"] for each in told] == kinds
    assert told[0]["why"].endswith("refinery.strategy: unknown (and 1 more)")
    for page in pages:
        for each in told:
            assert each["why"] in page
            for command in each["commands"]:
                assert f"<code>{command}</code>" in page


async def test_what_ends_the_loop_beside_a_dashboard_is_told_as_it_is() -> None:
    with pytest.raises(Unavailable, match="the forge has stopped"):
        async with opens(Rules()):
            raise Unavailable("the forge has stopped")
