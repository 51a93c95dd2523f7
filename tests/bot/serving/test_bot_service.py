"""A whole bot on the local forge: with a token of its own, and as an App."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.door.inbox import StartRequest
from bot.forge.github import GitHub
from bot.forge.pace import RequestBudget
from bot.forge.rest import Refused
from bot.loop.loop import Loop
from bot.oneshot import kept_of, run_once
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from bot.settings.oneshot_settings import loops_actor, read_inputs
from brat.forge.http_server import serving
from brat.forge.service.run_processes import How
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository.registration import FORGE_FOLDER, Registration
from grite.errors import BratError
from grite.signatures import SIGNERS_FILE, signer_line
from tests.bot.hosted import at_home, settings
from tests.bot.room import SHELL, registered
from tests.bot.serving.hosted_town import alone, helper, labelled
from tests.forge.running import starter
from tests.world.cases import looped
from tests.world.forge import REPO, Town
from tests.world.forge_rules import pull_request, rule
from tests.world.github_forge.apps import Apps
from tests.world.log_keys import OTHER_KEY
from tests.world.patience import patient
from tests.world.trusting_jobs import trusting_jobs


def as_app(town: Town, key: str = "brat") -> Settings:
    return settings(town, **helper(town, key))


async def test_git_goes_on_with_a_new_token_and_a_lost_app_is_said_until_it_is_back(
    town: Town,
) -> None:
    told: list[str] = []
    async with bot_service.opened(as_app(town), told.append) as loop:
        github = loop.context.github
        await bot_service.until_done(loop)
        town.forge.drop_token(await github.rest.tokens.token())
        await github.described()  # finds out, and has a new one
        await bot_service.until_done(loop)
        assert told == []

        town.forge.drop_token(await github.rest.tokens.token())
        (one,) = Apps(town.forge).installations.all()
        Apps(town.forge).suspend(one)
        with pytest.raises(Refused, match="suspended"):
            await github.described()

        def back() -> None:
            Apps(town.forge).install("helper", REPO)
            loop.wake.all()

        await bot_service.until_done(loop, seen=back)

        assert loop.context.troubles == {}
    (said,) = told
    assert "This installation has been suspended; check whether" in said


async def test_a_bot_with_the_wrong_key_or_none_does_not_start(town: Town) -> None:
    missing = settings(town, app_id="1", private_key_file=town.folder / "no.pem")
    for told, why in (
        (as_app(town, key="another"), "matches its private key"),
        (missing, r"cannot read the App's private key: .*no\.pem"),
    ):
        with pytest.raises(BratError, match=why):
            async with bot_service.opened(told, print):
                pass


@pytest.mark.parametrize("guarded", [False, True])
async def test_the_file_counts_where_the_branch_is_guarded(
    here: Town, *, guarded: bool
) -> None:
    checkout = await here.clone("alice")
    await checkout.commit(SIGNERS_FILE, signer_line(OTHER_KEY.public, "another bot"))
    await checkout.git("push", "--quiet", "origin", "main")
    if guarded:
        await rule(here, pull_request(1))
    said: list[str] = []

    async with bot_service.opened(alone(here), said.append) as loop:
        for _ in range(2):
            assert not await bot_service.tick(loop)
        mirror = loop.context.mirror

        assert mirror.believes_branch == guarded
        keys = {signer.public for signer in mirror.authority.signers.signers}
        assert (OTHER_KEY.public in keys) == guarded
    (told,) = [each for each in said if each.startswith("allowed signers: ")]
    assert ("is not used" in told) != guarded


# --- ten issues labelled at once become ten convoys, and share the slots --------------

ISSUES = 10
LIST = "- [ ] one\n" * 5
CONFIG = f"""\
{SHELL}max_sessions = 100
[witness]
max_sessions = {{slots}}
"""
NOTHING = How(executor=("true",))
"""Sessions that never say anything: their slots stay taken."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("slots", [15, 50])
async def test_ten_issues_labelled_at_once_share_the_slots(
    tmp_path: Path, slots: int
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(CONFIG.format(slots=slots))
    roles = ("mayor", "witness")
    async with at_home(tmp_path, NOTHING) as here:
        token = here.tokens["bot"]
        told = settings(here, token=token, config_file=file, roles=roles)
        async with asyncio.TaskGroup() as group:
            made = [
                group.create_task(labelled(here, REPO, f"Fix {number}", LIST))
                for number in range(ISSUES)
            ]
        issues = sorted(each.result() for each in made)
        async with bot_service.opened(told, lambda _: None) as loop:
            assert not await loop.tick(), loop.context.troubles
            state = loop.context.mirror.state

    assert sorted(convoy.issue for convoy in state.convoys.values()) == issues
    running = [convoy.name for convoy, _ in state.running()]
    each = sorted(running.count(name) for name in state.convoys)
    assert len(running) == slots
    assert each[-1] - each[0] <= 1


# --- the loop that runs once as a job: what it is told, and when it stays -------------

TOLD = {
    "RUNNER_TEMP": "/nowhere",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_REPOSITORY": "octo/hello",
    "BRAT_TOKEN": "t0ken",
    "BRAT_LOG_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----",
}


def test_a_job_of_github_is_paced_acts_as_its_app_and_shows_no_secret() -> None:
    settings = read_inputs(TOLD).settings
    told = (settings.token, settings.workflow, settings.label)
    assert told == ("t0ken", "brat.yml", "brat")
    assert (settings.push_gap_s, settings.write_gap_s) == (20, 1)
    for server in ("http://127.0.0.1:8080", "http://localhost:1"):
        here = read_inputs(TOLD | {"GITHUB_SERVER_URL": server}).settings
        assert (here.push_gap_s, here.write_gap_s) == (0, 0)

    inputs = read_inputs(TOLD | {"BRAT_APP_ID": "12", "BRAT_APP_KEY": "s3cret"})
    assert (inputs.settings.app_id, inputs.settings.token) == ("12", "")
    assert inputs.settings.private_key_file == Path("/nowhere/brat-loop/app.pem")
    assert "s3cret" not in repr(inputs)
    assert "t0ken" not in repr(read_inputs(TOLD))

    actors = [loops_actor(each) for each in ("Octo/Hello", "octo/hello", "octo/other")]
    assert actors[0] == actors[1] != actors[2]
    assert len(bytes.fromhex(actors[0])) == 16


@looped(
    ({"BRAT_TOKEN": ""}, "there is no token"),
    ({"BRAT_LOG_KEY": "", "BRAT_ALLOWED_SIGNERS": "brat x"}, "run `brat setup`"),
    ({"BRAT_APP_ID": "1"}, "set both BRAT_APP_ID and BRAT_APP_KEY"),
    ({"GITHUB_REPOSITORY": ""}, "GITHUB_REPOSITORY is not set"),
    ({"GITHUB_REPOSITORY": "a b"}, "repository"),
    ({"BRAT_WORKFLOW": "../x.yml"}, "workflow"),
    ({"BRAT_AFTER": "1; rm"}, "BRAT_AFTER must be a whole number, not '1; rm'"),
)
def test_what_makes_no_sense_is_said_in_a_sentence(
    change: dict[str, str], said: str
) -> None:
    with pytest.raises(BratError, match=said) as raised:
        read_inputs(TOLD | change)

    assert "\n" not in str(raised.value)


def event(folder: Path, name: str, **told: object) -> StartRequest | object | None:
    file = folder / "event.json"
    issue = {"number": 7, "title": "Fix it", "body": "All.", "state": "open"}
    sender = {"login": "ann", "id": 3, "type": "User"}
    file.write_text(json.dumps({"issue": issue, "sender": sender, **told}))
    env = {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}
    return kept_of(read_inputs(TOLD | env), "github-actions[bot]")


def test_a_label_and_a_name_ask_with_the_text_that_the_event_froze(
    tmp_path: Path,
) -> None:
    kept = event(tmp_path, "issues", action="labeled", label={"name": "brat"})
    issue = {"number": 7, "title": "Fix it", "body": "@github-actions go"}
    named = event(tmp_path, "issues", action="opened", issue=issue)

    assert isinstance(kept, StartRequest)
    assert (kept.issue, kept.text, kept.by) == (7, "All.", "ann")
    assert isinstance(named, StartRequest)
    assert named.trigger == "mention"
    for wakes in ("schedule", "workflow_dispatch", "workflow_run"):
        assert event(tmp_path, wakes, schedule="7 * * * *", inputs=None) is None
    assert kept_of(read_inputs(TOLD), "github-actions[bot]") is None, "no event file"


# --- the loop that ends when others have to act: it dispatches, and waits for nobody --


@pytest.fixture
def known(tmp_path: Path) -> Registration:
    return registered(tmp_path, {})


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
async def loop(
    tmp_path: Path, known: Registration, told: list[str]
) -> AsyncIterator[Loop]:
    """Give a loop on a forge whose sessions go on until they are cancelled."""
    how = How(starter("wait"), interrupt_s=0.2, terminate_s=0.2)
    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge, how=how) as url:
            settings = local_mode.bot_settings(tmp_path, known, url)
            shared = settings.model_copy(update={"sole": False})
            async with bot_service.opened(shared, told.append) as opened:
                yield opened
                for run in forge.store.runs.all():
                    await opened.context.github.runs.cancel(run.id)
            async with asyncio.timeout(patient(20)):
                while any(r.status != "completed" for r in forge.store.runs.all()):  # noqa: ASYNC110  processes
                    await asyncio.sleep(0.02)


@asynccontextmanager
async def asking(loop: Loop, known: Registration) -> AsyncIterator[tuple[GitHub, int]]:
    """Let a person ask for a convoy on a new issue."""
    async with local_mode.person(loop.context.settings.git_url, known) as github:
        issue = await github.open_issue("Fix it", "All of it.")
        await github.relabel(issue, {"brat"}, set())
        yield github, issue


async def test_it_ends_with_nothing_to_do_and_waits_for_no_session_that_it_dispatched(
    loop: Loop, known: Registration, told: list[str]
) -> None:
    """With few requests left, it leaves the machine to a later run."""
    idle = await run_once(loop, after=None, ci_wait_s=600)
    assert (idle.convoys, idle.running, idle.again) == (0, 0, False)
    assert not idle.by_clock
    assert loop.lease.ref not in loop.context.mirror.refs

    async with asking(loop, known), asyncio.timeout(patient(30)):
        loop.wake.all()  # as the next job begins
        # The session goes on for longer than that.
        left = await run_once(loop, after=None, ci_wait_s=600)

    assert (left.convoys, left.running, left.again) == (1, 1, False)
    assert left.by_clock  # the session may be lost without a word
    assert loop.lease.ref not in loop.context.mirror.refs

    later = "jobs have few API requests left; a later run will continue"
    assert later not in told
    pace = loop.context.github.rest.pace
    at = pace.time.steady() + 3_000
    pace.budget = RequestBudget(limit=1_000, left=90, resets_at=at)
    async with asyncio.timeout(patient(30)):
        left = await run_once(loop, after=None, ci_wait_s=600)
    assert left.by_clock
    assert later in told


async def test_a_job_that_stays_answers_while_a_session_runs(
    tmp_path: Path, loop: Loop, known: Registration
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[engine.default]\ntype = "shell"\nargs = ["true"]\n[actions]\nstay = true\n'
    )
    told = {"config_file": file}
    loop.context.settings = loop.context.settings.model_copy(update=told)
    async with (
        asking(loop, known) as (github, issue),
        asyncio.timeout(patient(60)),
        asyncio.TaskGroup() as tasks,
    ):
        job = tasks.create_task(run_once(loop, after=None, ci_wait_s=0))
        while not [*loop.context.mirror.state.running()]:  # noqa: ASYNC110  the job's
            await asyncio.sleep(0.05)
        await github.say(issue, "/brat cancel")
        left = await job

    assert (left.convoys, left.running, left.again) == (0, 0, False)
