"""`brat setup`, typed against a forge over HTTP: shown, done, proved, done once."""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.settings import bot_folder
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.record_store import Table
from brat.setup import secret_steps, steps
from brat.setup.secret_steps import Environment, Pattern, Stored
from grite.signatures import only_signer, parse_signers
from tests.world.cases import looped
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.github_forge import rest_secrets
from tests.world.github_forge.rest_apps import allow
from tests.world.github_forge.rest_secrets import Opened, Sealed
from tests.world.given_secrets import given
from tests.world.layers import sampled
from tests.world.patience import patient
from tests.world.staying import staying
from tests.world.terminal import Said, contents, new_terminal

pytestmark = pytest.mark.layer("landing")

SECRET = "ANTHROPIC_API_KEY"
CI = "on: {workflow_dispatch: }\njobs: {test: {runs-on: x, steps: [{run: 'true'}]}}\n"
TOKENS = "actions/permissions/workflow"
POLICIES = "environments/brat/deployment-branch-policies"
LOG_KEY = "environments/brat/secrets"
SIGNERS = "actions/variables/BRAT_ALLOWED_SIGNERS"
CI_VARIABLE = "actions/variables/BRAT_CI_WORKFLOW"
FINISHED = [*["ok"] * 6, "hand", "ok", "ok", "hand", "ok"]
FILES = {"brat.yml", "brat-wake.yml"}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as served:
            yield served


@pytest.fixture
def person(here: Town) -> "Person":
    return Person(here)


class Person:
    """Somebody at a checkout of alice/app, whose CI can be dispatched."""

    def __init__(self, here: Town) -> None:
        """Make the checkout; its CI is not pushed."""
        self.here, self.variables = here, ""
        self.terminal = new_terminal(here.folder / "person")
        self.terminal.commit("Begin", {".github/workflows/ci.yml": CI})
        self.terminal.done(f"git remote add origin {here.remote}")

    async def type(self, options: str = "", by: str = "alice") -> Said:
        token = self.here.tokens[by]
        line = f"env GH_ENTERPRISE_TOKEN={token} {self.variables} brat setup {options}"
        return await asyncio.to_thread(self.terminal.type, line)

    async def state(self) -> tuple[object, ...]:
        ask = self.here.get
        environments = await ask("environments", by="alice")
        return (
            [one["name"] for one in await ask("labels")],
            await ask(TOKENS, by="alice"),
            await ask("actions/variables", by="alice"),
            [one["name"] for one in environments["environments"]],
            [one["number"] for one in await ask("pulls")],
            await ask("git/matching-refs/heads"),
        )


def done(said: Said) -> list[str]:
    """Return the marks of the last line about each step, in order."""
    return re.findall(r"(?m)^  (ok|do|hand) ", said.err)


async def test_without_a_yes_it_only_shows(person: Person) -> None:
    before, files = await person.state(), contents(person.terminal.cwd, but=".git/")

    said = await person.type()

    assert said.status == 1, said.err
    assert done(said) == [*["do"] * 6, "hand", "ok", "ok", "do", "do"], said.err
    assert "LOOSEN: allow GitHub Actions to create" in said.err
    assert "nothing was changed" in said.err
    assert await person.state() == before
    assert contents(person.terminal.cwd, but=".git/") == files

    reader = await person.type("--yes", by="mallory")
    assert reader.status == 1, reader.err
    assert "administrators only" in reader.err
    assert await person.state() == before


async def test_it_does_what_it_shows_and_a_second_run_changes_nothing(
    person: Person, here: Town
) -> None:
    first = await person.type("--yes")

    assert first.status == 1, first.err  # the pull request waits, and the key
    assert "merge pull request #1" in first.err
    assert f"gh secret set {SECRET} --repo {REPO}" in first.err
    assert await here.get(TOKENS, by="alice") == {
        "default_workflow_permissions": "read",
        "can_approve_pull_request_reviews": True,
    }
    branches = (await here.get(POLICIES, by="alice"))["branch_policies"]
    assert [one["name"] for one in branches] == ["main"]
    assert (await here.get(CI_VARIABLE, by="alice"))["value"] == "ci.yml"
    bare = here.forge.bare(here.forge.known(REPO)).path
    head = (await here.get("pulls/1"))["head"]["sha"]
    files = person.terminal.done(f"git -C {bare} diff --name-only main {head}")
    assert {Path(one).name for one in files.splitlines()} == {*FILES, "allowed_signers"}
    (issue,) = [i for i in await here.get("issues") if "pull_request" not in i]
    assert issue["title"] == "brat is ready"
    assert [label["name"] for label in issue["labels"]] == ["brat"]
    pull = await here.get("pulls/1")
    assert pull["title"] == "Set up brat"
    assert "- brat starts ci.yml on each candidate" in pull["body"]
    assert "/settings/secrets/actions)" in pull["body"]
    assert person.terminal.done("git status --short") == ""
    after = await person.state()

    second = await person.type("--yes")

    assert second.status == 1, second.err
    assert done(second) == FINISHED, second.err
    assert await person.state() == after

    merged = await here.ask("PUT", "pulls/1/merge", {}, by="alice")
    assert merged.status_code == 200, merged.text
    third = await person.type("--yes")
    assert done(third) == [*["ok"] * 6, "hand", "ok", "ok", "ok", "ok"], third.err


async def test_a_policy_that_would_let_no_run_start_is_told(
    person: Person, here: Town
) -> None:
    for actions, pattern, told in (
        ("", "", "turn Actions on"),
        ("local_only", "", "allow actions/upload-artifact@* under Settings"),
        ("selected", "octo/*", "allow actions/upload-artifact@* under Settings"),
        ("selected", "Actions/*", "Actions may run what brat's workflow files use"),
    ):
        allow(here.forge, REPO, actions, *filter(None, [pattern]))
        assert told in (await person.type()).err, (actions, pattern)

    uses = ["actions/upload-artifact@*", "ann/brat/.github/workflows/brat-jobs.yml@*"]
    for patterns, lacking in (
        ((), uses[1:]),
        (("ann/brat@*",), uses[1:]),
        (("ann/*",), []),
        (("Ann/brat/*",), []),
    ):
        chosen = steps.Chosen(github_owned_allowed=True, patterns_allowed=patterns)
        assert chosen.lacks(uses, "octo") == lacking
    assert steps.Chosen().lacks(uses, "Ann") == uses[:1]


OURS_ALONE = "let only the branch main use"
WRITES = [
    ("POST", ".*/labels", "create the label brat"),
    ("PUT", f".*/{TOKENS}", "choose read permissions"),
    ("PUT", ".*/environments/brat", OURS_ALONE),
    ("POST", f".*/{POLICIES}", OURS_ALONE),
    ("POST", ".*/actions/variables", "BRAT_ALLOWED_SIGNERS"),
    ("PUT", f".*/{LOG_KEY}/BRAT_LOG_KEY", "BRAT_LOG_KEY"),
    ("POST", ".*/pulls", "brat setup --local"),
    ("POST", ".*/issues", "open an issue with one task"),
]
STEPS = [write[:2] for write in WRITES]
REFUSED = [
    (*write, status)
    for write, status in zip(WRITES, itertools.cycle((403, 404, 422)), strict=False)
]


@pytest.mark.parametrize(
    ("method", "path", "by_hand", "status"), sampled(REFUSED, REFUSED[3:4])
)
async def test_one_refusal_is_said_the_rest_is_done_and_a_second_run_finishes(
    person: Person, here: Town, method: str, path: str, by_hand: str, status: int
) -> None:
    here.faults.refuse(method, path, status, "Resource not accessible")

    said = await person.type("--yes")

    assert said.status == 1, said.err
    told = [line for line in said.lines if line.startswith("  hand")]
    answered = f"answered {status}"
    assert any(by_hand in line and answered in line for line in told), said.err
    if by_hand == OURS_ALONE:
        assert "other branches could read the key" in said.err
        assert secrets_of(here) == {}
    here.faults.lift()
    again = await person.type("--yes")
    assert answered not in again.err
    await finished(person)


async def finished(person: Person) -> None:
    last = await person.type("--yes")
    assert done(last) == FINISHED, last.err
    assert [one["number"] for one in await person.here.get("pulls")] == [1]


@pytest.mark.parametrize(("method", "path"), sampled(STEPS, STEPS[5:6]))
async def test_a_kill_at_any_step_and_a_second_run_finish(
    person: Person, here: Town, method: str, path: str
) -> None:
    here.faults.refuse(method, path, 500, "only met", times=0)
    token = {"GH_ENTERPRISE_TOKEN": here.tokens["alice"]}
    with staying(person.terminal, "setup", "--yes", **token) as setup:
        await until(here.faults.met, deadline_s=patient(90))
        setup.process.kill()

    await person.type("--yes")
    await finished(person)


def secrets_of(here: Town) -> dict[str, Opened]:
    kept = Table(here.forge.store, Sealed, lambda one: one.repo)
    repo = here.forge.known(REPO).id
    return {one.name: rest_secrets.opened(one) for one in kept.of(repo)}


async def test_the_log_is_signed_by_a_key_that_jobs_believe_and_nobody_kept(
    person: Person, here: Town
) -> None:
    before = bot_folder.new_log_key().line.strip()
    named = {"name": "BRAT_ALLOWED_SIGNERS", "value": before}
    await here.post("actions/variables", named, by="alice")

    said = await person.type("--yes")

    secret = secrets_of(here)["BRAT_LOG_KEY"]
    assert secret.environment == "brat"
    given(secret.value)
    public = bot_folder.parse_log_key(secret.value.encode(), "the secret").public
    told = (await here.get(SIGNERS, by="alice"))["value"]
    kept, own = told.splitlines()
    assert kept == before, "who was believed stays believed"
    assert parse_signers(own).signers == only_signer(public).signers
    for text in (said.err, said.out, *contents(person.terminal.cwd).values()):
        assert secret.value not in str(text)


@looped(
    ("", "codex", "wanted", "each job installs codex"),
    ("", "", "wanted", "directly on the job's machine"),
    ("ghcr.io/o/brat/runner-codex:v1", "codex", "by hand", "by its digest"),
    (f"ghcr.io/o/runner@sha256:{'0' * 64}", "codex", "wanted", "ghcr.io/o/runner"),
    (f"ghcr.io/o/runner@sha256:{'0' * 63}", "codex", "by hand", "by its digest"),
)
def test_the_image_of_agents_is_named_by_its_digest(
    image: str, engine: str, state: str, said: str
) -> None:
    found = steps.planned_container(image, engine)

    assert found.state == state
    assert said in found.said


async def test_people_name_the_workflow_that_judges_and_their_own_rules_stay(
    person: Person, here: Town
) -> None:
    own = {"protected_branches": True, "custom_branch_policies": False}
    policy = {"deployment_branch_policy": own}
    await here.ask("PUT", "environments/brat", policy, by="alice")
    person.terminal.commit("Check more", {".github/workflows/extra.yml": CI})

    said = await person.type("--yes")
    assert "brat setup --ci FILE" in said.err
    assert "one of ci.yml, extra.yml" in said.err
    assert "hand  let only the branch main use the environment brat" in said.err

    wrong = await person.type("--yes --ci none.yml")
    assert "no workflow file named none.yml" in wrong.err

    named = await person.type("--yes --ci extra.yml")
    assert "ok    brat starts extra.yml on each candidate" in named.err
    assert (await here.get(CI_VARIABLE, by="alice"))["value"] == "extra.yml"
    (kept,) = (await here.get("environments", by="alice"))["environments"]
    assert kept["deployment_branch_policy"] == own


async def test_locally_or_without_a_token_it_pushes_nothing(
    person: Person, here: Town
) -> None:
    said = await person.type("--local --yes")

    written = person.terminal.cwd / ".github/workflows"
    assert {one.name for one in written.iterdir()} == FILES | {"ci.yml"}, said.err
    assert await here.get("pulls") == []

    undone = await person.type("--local --undo --yes")
    assert {one.name for one in written.iterdir()} == {"ci.yml"}, undone.err

    # without a token it says what it would do
    said = await asyncio.to_thread(person.terminal.type, "brat setup --yes")

    assert said.status != 0
    assert "would do this in alice/app" in said.err
    assert "create the key that signs brat's log" in said.err
    assert "no token for" in said.err


UNDONE = [
    ("PATCH", ".*/issues/3", "close the issue", 403),
    ("PATCH", ".*/pulls/2", "close the pull request", 404),
    ("DELETE", f".*/actions/secrets/{SECRET}", "delete the secret", 422),
    ("DELETE", f".*/{SIGNERS}", "delete the variable BRAT_ALLOWED_SIGNERS", 403),
    ("DELETE", f".*/{CI_VARIABLE}", "delete the variable BRAT_CI_WORKFLOW", 404),
    ("DELETE", ".*/labels/brat", "delete the label", 403),
    ("PUT", f".*/{TOKENS}", "stop allowing GitHub Actions", 403),
]
LATER = [
    ("DELETE", ".*/git/refs/heads/brat-setup", "delete that branch", 422),
    ("DELETE", ".*/environments/brat", "delete the environment brat", 403),
]
NOTHING = "there was nothing to undo; nothing was changed"


async def test_undo_takes_back_what_setup_made_and_says_what_is_refused(
    person: Person, here: Town
) -> None:
    labels, _, *empty = await person.state()
    person.variables = f"{SECRET}={given('sk-ant-made-up-key-to-be-taken-back')}"
    alike = {"title": steps.READY, "body": steps.OPENED}
    strangers = (await here.post("issues", alike, by="mallory"))["number"]
    await person.type("--yes")
    made = await person.state()

    shown = await person.type("--undo")
    assert done(shown) == [*["do"] * 8, "ok"], shown.err
    assert await person.state() == made

    for refused in (UNDONE, LATER):
        for method, path, _, status in refused:
            here.faults.refuse(method, path, status, "Resource not accessible")
        said = await person.type("--undo --yes")
        told = [line for line in said.lines if line.startswith("  hand")]
        for _, _, by_hand, status in refused:
            answered = f"answered {status}"
            assert any(by_hand in one and answered in one for one in told), said.err
        assert said.status == 1
        here.faults.lift()
        if refused is UNDONE:
            assert (
                "the environment shows what brat setup stored; first delete" in said.err
            )
            assert await person.state() == made

    last = await person.type("--undo --yes")
    assert last.status == 0, last.err
    assert "everything that brat setup did has been undone" in last.err
    left, tokens, *others = await person.state()
    assert (left, others) == (labels, empty)
    assert tokens == {
        "default_workflow_permissions": "read",
        "can_approve_pull_request_reviews": False,
    }
    assert secrets_of(here) == {}
    assert (await here.get(f"issues/{strangers}"))["state"] == "open"
    (pull,) = await here.get("pulls?state=all")
    assert pull["state"] == "closed"
    again = await person.type("--undo --yes")
    assert (again.status, done(again)) == (0, ["ok"] * 9), again.err
    assert NOTHING in again.err


async def test_undo_names_merged_files_and_leaves_what_people_made(
    person: Person, here: Town
) -> None:
    await here.post("labels", {"name": "brat", "color": "ffffff"}, by="alice")
    await person.type("--yes")
    merged = await here.ask("PUT", "pulls/1/merge", {}, by="alice")
    assert merged.status_code == 200, merged.text

    said = await person.type("--undo --yes")

    ours = ".github/workflows/brat.yml, .github/workflows/brat-wake.yml"
    merged_files = f"{ours}, .brat/allowed_signers"
    assert f"hand  delete the merged files on main: {merged_files}" in said.err
    assert "1 left to do by hand" in said.err
    assert "the label brat stays" in said.err


OURS = {"protected_branches": False, "custom_branch_policies": True}


def environment(policy: object, *rules: str) -> Environment:
    kinds = [{"type": rule} for rule in rules]
    fields = {"deployment_branch_policy": policy, "protection_rules": kinds}
    return Environment.model_validate({"name": "brat", **fields})


OWN = environment(OURS, "branch_policy")


def test_undo_deletes_only_the_environment_and_the_key_that_setup_made() -> None:
    undone = secret_steps.planned_environment_undo
    for known, patterns, secrets, state in (
        (None, "", "", "wanted"),
        (OWN, "main", "BRAT_LOG_KEY", "owed"),
        (environment(OURS), "", "", "owed"),
        (environment(None), "", "", "wanted"),
        (OWN, "main x", "BRAT_LOG_KEY", "by hand"),
        (OWN, "main", "BRAT_LOG_KEY X", "by hand"),
        (environment(OURS, "wait_timer"), "main", "", "wanted"),
    ):
        allowed = [Pattern(name=name) for name in patterns.split()]
        found = undone(known, allowed, frozenset(secrets.split()), "main")
        assert found.state == state, (known, patterns, secrets)

    for day, since, state in (
        ("2026-01-02", "2026-01-01", "owed"),
        ("2026-01-01", "2026-01-01", "owed"),
        ("2025-12-31", "2026-01-01", "wanted"),
        ("2026-01-02", "", "wanted"),
    ):
        made = {"name": SECRET, "created_at": f"{day}T00:00:00Z"}
        told = {"name": "brat", "created_at": f"{since}T00:00:00Z"}
        known = Environment.model_validate(told) if since else None
        one = Stored.model_validate(made)
        assert secret_steps.planned_engine_key([one], known).state == state, day
