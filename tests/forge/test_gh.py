"""gh, GitHub's own command line client, against the local forge as against GHES.

https://cli.github.com/manual/gh_help_environment
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.forge.running import INPUTS
from tests.world.forge import REPO, Json, Town
from tests.world.patience import patient
from tests.world.tls import tls_before
from tests.world.tools import where_is

pytestmark = pytest.mark.needs("gh")
DEADLINE_S = patient(60)


@dataclass(frozen=True)
class Gh:
    """gh, logged in at the forge."""

    env: dict[str, str]

    async def typed(self, *words: str) -> tuple[int, str, str]:
        """Type a command; return its exit status, output and errors."""
        process = await asyncio.create_subprocess_exec(
            str(where_is("gh")),
            *words,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(DEADLINE_S):
            out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    async def api(self, path: str, *words: str) -> Json:
        """Type `gh api repos/…`; return what it prints, decoded."""
        path = f"repos/{REPO}/{path}".rstrip("/")
        status, out, err = await self.typed("api", path, *words)
        assert status == 0, err + out
        return json.loads(out) if out.strip() else None


@pytest.fixture
async def gh(here: Town, tmp_path: Path) -> AsyncIterator[Gh]:
    port = urlsplit(here.url).port or 0
    async with tls_before(port, tmp_path) as (secure, authority):
        yield Gh(
            {
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "GH_HOST": f"localhost:{secure}",
                "GH_ENTERPRISE_TOKEN": here.tokens["bot"],
                "SSL_CERT_FILE": str(authority),
                "GH_NO_UPDATE_NOTIFIER": "1",
            }
        )


async def test_an_issue_is_opened_labelled_and_talked_about(gh: Gh) -> None:
    issue = await gh.api("issues", "-f", "title=Fix it", "-f", "body=All of it")
    number = issue["number"]
    await gh.api(f"issues/{number}/labels", "-f", "labels[]=bug")
    said = await gh.api(f"issues/{number}/comments", "-f", "body=/brat help")
    seen = await gh.api(f"issues/{number}")
    comments = await gh.api(f"issues/{number}/comments", "--paginate")

    assert (seen["title"], [label["name"] for label in seen["labels"]]) == (
        "Fix it",
        ["bug"],
    )
    assert [comment["id"] for comment in comments] == [said["id"]]


async def test_a_pull_request_and_its_checks_are_seen(here: Town, gh: Gh) -> None:
    checkout = await here.clone()
    await checkout.git("checkout", "--quiet", "-b", "topic")
    commit = await checkout.commit("new.txt", "new\n")
    await checkout.git("push", "--quiet", "origin", "topic")
    made = await gh.api(
        "pulls", "-f", "title=Change", "-f", "head=topic", "-f", "base=main"
    )
    await gh.api(
        "check-runs",
        *("-f", "name=ours", "-f", f"head_sha={commit}"),
        *("-f", "status=completed", "-f", "conclusion=success"),
    )
    pulls = await gh.api("pulls", "--paginate")
    checks = await gh.api(f"commits/{commit}/check-runs")

    assert [pull["number"] for pull in pulls] == [made["number"]]
    assert ("ours", "success") in {
        (run["name"], run["conclusion"]) for run in checks["check_runs"]
    }


async def test_a_workflow_is_dispatched(gh: Gh) -> None:
    inputs = [f"inputs[{name}]={value}" for name, value in INPUTS.items()]
    fields = (word for each in inputs for word in ("-f", each))
    await gh.api(
        "actions/workflows/brat-task.yml/dispatches", "-f", "ref=main", *fields
    )
    runs = await gh.api("actions/runs")

    assert [run["event"] for run in runs["workflow_runs"]] == ["workflow_dispatch"]


async def test_what_graphql_does_not_have_here_is_named(gh: Gh) -> None:
    status, _, err = await gh.typed("issue", "list", "--repo", REPO)

    assert status == 1
    assert "Cannot query field 'issues' on type 'Repository'" in err
