"""What brat asks of GitHub for teams is as GitHub describes it, and all of it lands.

Sub-issues that wait for each other are planned and landed, another plan is written back
as sub-issues, a review bot's thread is answered, and a person's pull requests land:
one as brat asks, one by the forge's own queue. The bot looks, and hears nothing.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.bot.requests.test_given_pulls import given, is_merged, opened as pull_of
from tests.bot.requests.test_review_threads import FILES, lines_of, on
from tests.bot.roles.test_sub_issues import blocked, opened
from tests.bot.room import HEADS, REPO, Room, room
from tests.contract.openapi import github as contract
from tests.world.forge_rules import merge_queue, pull_request, put_ruleset
from tests.world.github_forge.extension import github
from tests.world.traffic import Exchange

CONFIG: Final = """\
[refinery]
checks = ["ci"]
[mayor]
sub_issues = true
[review]
bots = ["coder[bot]"]
"""
GREEN: Final = frozenset[str]()

pytestmark = [pytest.mark.timeout(240), pytest.mark.layer("landing")]


def ruled(service: Service) -> Extension:
    put_ruleset(service.forge, pull_request(), repo=REPO)
    queued = (pull_request(), merge_queue())
    on = {"ref_name": {"include": [f"{HEADS}next"], "exclude": []}}
    put_ruleset(service.forge, *queued, repo=REPO, conditions=on)
    return github(service)


async def sub_issues_land(here: Room) -> None:
    kept = {**FILES, ".brat/config.toml": CONFIG.encode()}
    first = await opened(here, "First", here.issue)
    second = await opened(here, "Second", here.issue)
    await blocked(here, second, first)
    other = await here.person.open_issue("Do more", "- [ ] Three\n- [ ] Four\n")
    for each in (here.issue, other):
        await here.person.relabel(each, {"brat"}, set())
    await here.until(
        lambda: [len(c.named) for c in here.state.convoys.values()] == [2, 2]
    )
    await here.until(lambda: here.labels(second) == {"brat:queued"})

    await here.worked(1, kept)
    await here.until(lambda: here.task(1).pull)
    bot = here.let_in("coder[bot]", "read")
    await here.reviewed("COMMENT", bot, comments=on(2, "Say 2."))
    await here.until(lambda: here.task(1).state == "queued")
    await here.worked(1, {**kept, "one.py": b"one\n2\nthree\n"})
    await here.until(lambda: lines_of(here)[0].is_resolved)
    await here.until(lambda: here.task(1).state == "merged", red=GREEN)
    await here.worked(2, {**kept, "one.py": b"one\n2\n3\n"})
    await here.until(lambda: here.convoy.ended, red=GREEN)


async def pulls_land(here: Room) -> None:
    pull = await pull_of(here, "more", {"more.py": b"more\n"})
    other = await pull_of(here, "other", {"o.py": b"o\n"}, base="next")
    for each in (pull, other):
        await here.written(each, "/brat land", "you")
    for each in (pull, other):
        await here.until(lambda: is_merged(here, each), red=GREEN)  # noqa: B023
        await here.until(lambda: given(here, each).ended)  # noqa: B023
    await here.swept(2)


async def test_all_of_it_lands_and_is_asked_as_github_describes_it(
    tmp_path: Path,
) -> None:
    faults: list[str] = []

    def judge(exchange: Exchange) -> None:
        if exchange.path.startswith(f"/repos/{REPO}/"):
            faults.extend(contract().faults(exchange))

    async with room(
        tmp_path, CONFIG, labelled=False, observe=judge, extend=ruled
    ) as here:
        await here.push(f"{here.tip('main')}:{HEADS}next")
        await sub_issues_land(here)
        await pulls_land(here)

        convoys = here.state.convoys.values()
        assert [
            (each.state, *(f"{t.state} {t.started}" for t in each.tasks))
            for each in convoys
        ] == [
            ("active", "queued 0", "queued 0"),
            ("complete", "merged 2", "merged 1"),
            ("complete", "merged 0"),
            ("complete", "merged 0"),
        ]
        store = here.forge.store
        assert {
            (each.title, each.state, *here.labels(each.number))
            for each in store.issues.all()
            if not each.pull
        } == {
            ("Do it", "closed", "brat:complete"),
            ("Do more", "open", "brat:active"),
            ("First", "closed", "brat:merged"),
            ("Four", "open", "brat:queued"),
            ("Second", "closed", "brat:merged"),
            ("Three", "open", "brat:queued"),
        }
        said = [re.sub("[0-9a-f]{40}", "SHA", each.body) for each in lines_of(here)]
        assert [each.splitlines()[-1] for each in said] == ["Say 2.", "Done in SHA."]
        assert sum(p.merged_at is not None for p in store.pulls.all()) == 5
    assert faults == [], "GitHub does not describe it so"
