"""`brat setup`, typed against a forge over HTTP: shown, done, proved, done once."""

import asyncio
import re
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from brat.forge import Forge
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.terminal import BRAT, Said, contents, new_terminal

SECRET = "ANTHROPIC_API_KEY"
CI = "on: {workflow_dispatch: }\njobs: {test: {runs-on: x, steps: [{run: 'true'}]}}\n"
TOKENS = "actions/permissions/workflow"
POLICIES = "environments/brat/deployment-branch-policies"
FILES = {f"brat{end}.yml" for end in ("", "-task", "-wake")}


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with Forge(tmp_path / "forge") as forge:
        yield forge


@pytest.fixture
async def here(forge: Forge, tmp_path: Path) -> AsyncIterator[Town]:
    tokens = settle_in(forge, make_source(tmp_path / "source"))
    async with town(forge, tokens, tmp_path) as served:
        yield served


class Person:
    """Somebody at a checkout of alice/app, whose CI can be dispatched."""

    def __init__(self, here: Town) -> None:
        """Make the checkout; its CI is not pushed."""
        self.here = here
        self.terminal = new_terminal(here.folder / "person")
        self.terminal.commit("Begin", {".github/workflows/ci.yml": CI})
        self.terminal.done(f"git remote add origin {here.remote}")

    async def type(self, options: str = "", by: str = "alice") -> Said:
        """Type `brat setup` with the token of somebody."""
        token = self.here.tokens[by]
        line = f"env GH_ENTERPRISE_TOKEN={token} brat setup {options}"
        return await asyncio.to_thread(self.terminal.type, line)

    async def state(self) -> tuple[object, ...]:
        """Return everything that setup may change on the forge."""
        ask = self.here.get
        environments = await ask("environments", by="alice")
        return (
            [one["name"] for one in await ask("labels")],
            await ask(TOKENS, by="alice"),
            [one["name"] for one in environments["environments"]],
            [one["number"] for one in await ask("pulls")],
            await ask("git/matching-refs/heads"),
        )


@pytest.fixture
def person(here: Town) -> Person:
    return Person(here)


def done(said: Said) -> list[str]:
    """Return the marks of the last line about each step, in order."""
    return re.findall(r"(?m)^  (ok|do|hand) ", said.err)


async def test_without_a_yes_it_only_shows(person: Person) -> None:
    before, files = await person.state(), contents(person.terminal.cwd, but=".git/")

    said = await person.type()

    assert said.status == 1, said.err
    assert done(said) == ["do", "do", "do", "do", "do", "ok", "hand"], said.err
    assert "LOOSEN: allow GitHub Actions to create" in said.err
    assert "nothing was changed" in said.err
    assert await person.state() == before
    assert contents(person.terminal.cwd, but=".git/") == files


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
    files = await here.get("pulls/1/files")
    assert {Path(one["filename"]).name for one in files} == FILES
    assert person.terminal.done("git status --short") == ""
    after = await person.state()

    second = await person.type("--yes")

    assert second.status == 1, second.err
    assert done(second) == ["ok", "ok", "ok", "ok", "hand", "ok", "hand"], second.err
    assert await person.state() == after

    merged = await here.ask("PUT", "pulls/1/merge", {}, by="alice")
    assert merged.status_code == 200, merged.text
    third = await person.type("--yes")
    assert done(third) == ["ok", "ok", "ok", "ok", "ok", "ok", "hand"], third.err


WRITES = [
    ("POST", ".*/labels", "make the label brat"),
    ("PUT", f".*/{TOKENS}", "choose read permissions"),
    ("PUT", ".*/environments/brat", "let only the branch main use"),
    ("POST", f".*/{POLICIES}", "let only the branch main use"),
    ("POST", ".*/pulls", "brat setup --local"),
]


@pytest.mark.parametrize(("method", "path", "by_hand"), WRITES)
async def test_one_refusal_is_said_the_rest_is_done_and_a_second_run_finishes(
    person: Person, here: Town, method: str, path: str, by_hand: str
) -> None:
    here.faults.refuse(method, path, 403, "Resource not accessible")

    said = await person.type("--yes")

    assert said.status == 1, said.err
    told = [line for line in said.lines if line.startswith("  hand")]
    assert any(by_hand in line and "answered 403" in line for line in told), said.err
    here.faults.lift()
    again = await person.type("--yes")
    assert "answered 403" not in again.err
    last = await person.type("--yes")
    assert done(last) == ["ok", "ok", "ok", "ok", "hand", "ok", "hand"], last.err
    assert [one["number"] for one in await here.get("pulls")] == [1]


@pytest.mark.parametrize(("method", "path"), [write[:2] for write in WRITES])
async def test_a_kill_at_any_step_and_a_second_run_finish(
    person: Person, here: Town, method: str, path: str
) -> None:
    here.faults.refuse(method, path, 500, "only met", times=0)
    terminal = person.terminal
    process = await asyncio.create_subprocess_exec(
        BRAT,
        "setup",
        "--yes",
        cwd=terminal.cwd,
        env=terminal.environment() | {"GH_ENTERPRISE_TOKEN": here.tokens["alice"]},
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )

    async def reached() -> bool:
        return bool(here.faults.met())

    await until(reached)
    process.kill()
    await process.wait()

    await person.type("--yes")
    last = await person.type("--yes")
    assert done(last) == ["ok", "ok", "ok", "ok", "hand", "ok", "hand"], last.err
    assert [one["number"] for one in await here.get("pulls")] == [1]


async def test_who_may_only_read_is_told_what_an_administrator_does(
    person: Person,
) -> None:
    before = await person.state()

    said = await person.type("--yes", by="mallory")

    assert said.status == 1, said.err
    assert "an administrator may" in said.err
    assert await person.state() == before


async def test_rules_that_people_made_stay(person: Person, here: Town) -> None:
    await here.ask(
        "PUT",
        "environments/brat",
        {
            "deployment_branch_policy": {
                "protected_branches": True,
                "custom_branch_policies": False,
            }
        },
        by="alice",
    )

    said = await person.type("--yes")

    assert "hand  let only the branch main use the environment brat" in said.err
    kept = (await here.get("environments", by="alice"))["environments"][0]
    assert kept["deployment_branch_policy"]["protected_branches"] is True


async def test_locally_it_writes_the_files_and_pushes_nothing(
    person: Person, here: Town
) -> None:
    said = await person.type("--local --yes")

    written = person.terminal.cwd / ".github/workflows"
    assert {one.name for one in written.iterdir()} == FILES | {"ci.yml"}, said.err
    assert await here.get("pulls") == []
