"""The convoy's pull request is the one to review; those of tasks are drafts."""

from pathlib import Path

import pytest

from bot.forge.pulls import NO_DRAFTS
from bot.text.pull_request_texts import task_pull_body
from brat.forge.resources.forge_records import Pull
from convoy.model.ids import base_branch, key as key_of, task_branch
from convoy.rules.ending import AcceptWork
from tests.bot.requests.test_given_pulls import finished, judged
from tests.bot.requests.test_review_threads import FILES, answers, on
from tests.bot.room import NAME, REPO, TWO_WAYS, Room, room
from tests.world.cases import looped
from tests.world.forge_rules import pull_request, put_ruleset
from tests.world.github_forge.extension import github
from tests.world.github_forge.injected_faults import Faults
from tests.world.rules import Rules, made, sha, spec

pytestmark = pytest.mark.layer("landing")

CI = '[refinery]\nchecks = ["ci"]\n'


def pulls(here: Room) -> dict[str, Pull]:
    return {pull.head: pull for pull in here.forge.store.pulls.all()}


def body(here: Room, branch: str) -> str:
    return here.forge.issue_of(pulls(here)[branch]).body or ""


@pytest.mark.parametrize("shown", [True, False])
async def test_of_all_tasks_the_convoys_pull_request_is_the_one_to_review(
    tmp_path: Path, *, shown: bool
) -> None:
    config = CI + ("" if shown else "task_pulls = false\n")
    async with room(tmp_path, config) as here:
        files = {"README.md": b"# app\n", ".brat/config.toml": config.encode()}
        await here.worked(2, {**files, "two.py": b"2\n"})
        if not shown:
            assert "It is waiting for CI." in await here.answer("/brat why 2")
        await here.until(lambda: here.task(2).candidate is not None)
        await here.worked(1, {**files, "one.py": b"1\n"})
        convoy = await finished(here, here.issue)

        assert convoy.state == "complete", convoy.why
        whole, tasks = base_branch(NAME), {task_branch(NAME, n) for n in (1, 2)}
        found = pulls(here)
        assert found.keys() == ({whole} | tasks if shown else {whole})
        assert not found[whole].draft
        assert all(found[each].draft for each in found.keys() & tasks)
        assert all(pull.merged_at for pull in found.values())
        for each in found.keys() & tasks:
            assert f"Part of #{here.issue}: task " in body(here, each)
        text = body(here, whole)
        assert "This pull request is the one to review" in text
        assert 0 < text.index("two.py") < text.index("one.py"), "in the commits' order"


@pytest.mark.room(CI, extend=github)
async def test_where_there_are_no_drafts_tasks_get_ordinary_ones_which_is_said_once(
    here: Room, caplog: pytest.LogCaptureFixture
) -> None:
    """So it is where the repository is private, and its owner has a free plan."""
    faults = Faults(here.forge.folder)
    faults.refuse("POST", ".*/pulls", 422, f"{NO_DRAFTS} here.", times=1)
    for number in (1, 2):
        await here.worked(number, {f"{number}.py": b"done\n"})

    assert len(pulls(here)) == 2
    assert not any(pull.draft for pull in pulls(here).values())
    assert len(faults.refused()) == 1
    said = "opening ordinary pull requests, not drafts"
    assert sum(said in each for each in caplog.messages) == 1


@looped((0, (), False), (1, (), True), (0, ("ci.yml",), True))
def test_what_a_person_has_to_approve_has_a_pull_request_all_the_same(
    approvals: int, ci_files: tuple[str, ...], *, shown: bool
) -> None:
    rules = Rules().planned(spec(1), task_pulls=False, approvals=approvals).started(1)
    rules.do(made(AcceptWork, commit=sha("a"), files=ci_files, ci_files=ci_files))

    key = key_of("pull", rules.convoy.name, 1)
    assert (key in rules.state.intents) == shown
    is_draft = "Review the convoy's own pull request" in task_pull_body(
        rules.convoy, rules.task(1)
    )
    assert is_draft != shown


@TWO_WAYS
async def test_what_is_said_of_the_whole_becomes_a_task_that_answers_there(
    tmp_path: Path, *, delivered: bool
) -> None:
    """By a person and a listed bot; what is said to brat's own pull request counts."""
    config = f'{CI}task_pulls = false\n[review]\nbots = ["coder[bot]"]\n'
    async with room(tmp_path, config, delivered=delivered, extend=github) as here:
        put_ruleset(here.forge, pull_request(1), repo=REPO)
        files = {**FILES, ".brat/config.toml": config.encode()}
        for number in (1, 2):
            await here.worked(number, {**files, f"{number}.py": b"done\n"})
            files |= {f"{number}.py": b"done\n"}
            while here.task(number).state != "merged":
                await judged(here)
        await here.until(lambda: here.convoy.pull is not None)
        whole = here.convoy.pull

        async def said(by: str, line: int) -> None:
            comments = on(line, f"{by} asks")
            await here.reviewed("COMMENT", by, on=whole, comments=comments)
            here.loop.wake.all()

        speakers = here.let_in("bea"), here.let_in("coder[bot]", "read")
        for line, by in enumerate(speakers, 1):
            await said(by, line)
            await here.until(lambda: len(here.convoy.tasks) == 3)
            await here.until(lambda: len(here.task(3).threads) == line)  # noqa: B023
        notes = "".join(here.task(3).notes)
        assert all(f"{by}: {by} asks" in notes for by in speakers)
        assert here.convoy.candidate is None, "it does not land without that"
        await here.worked(3, {**files, "one.py": b"1\n2\nthree\n"})
        await here.until(lambda: len(answers(here)) == 2)
        while here.task(3).state != "merged":
            await judged(here)
        await here.reviewed("APPROVE", "bea", on=whole)
        convoy = await finished(here, here.issue)

        assert convoy.state == "complete", convoy.why
        assert [*pulls(here)] == [base_branch(NAME)]
        assert pulls(here)[base_branch(NAME)].merged_at
        assert all(each.startswith("Done in ") for each in answers(here))
