"""Every payload that the forge sends, held against GitHub's own schemas."""

from pathlib import Path

import pytest

from brat.forge.storage.forge_state import Forge
from tests.contract.sent_events import SENT
from tests.contract.webhook_schemas import hosts, webhooks
from tests.forge.mutations import mutate
from tests.forge.running import dispatch, ended, hasty
from tests.world.app_key import pair
from tests.world.forge import REPO, Town, settle_in, town
from tests.world.forge_rules import merge_queue, rule
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.receiver import Receiver, receiving

pytestmark = pytest.mark.needs("npm")
HEARD_BY = ("actions", "checks", "contents", "issues", "pull_requests", "statuses")
"""The permissions that an App needs to hear of all these."""
OF_QUEUES = {"pull_request.dequeued", "pull_request.enqueued"}
OF_PLANS = {kind for kind in SENT if kind.startswith(("sub_issues", "issue_depend"))}
QUEUEING = {"api.github.com", "ghec"}
"""The kinds of GitHub that have all of these: not every Enterprise Server has."""


async def talk(here: Town) -> None:
    path = f"issues/{await here.issue()}"
    await here.post(f"{path}/labels", {"labels": ["brat"]})
    await here.ask("DELETE", f"{path}/labels/brat")
    await here.ask("PATCH", path, {"title": "Other", "body": "More."})
    comment = await here.post(f"{path}/comments", {"body": "/brat status"})
    said = f"issues/comments/{comment['id']}"
    await here.ask("PATCH", said, {"body": "- [x] go"})
    await here.ask("DELETE", said)
    for state in ("closed", "open"):
        await here.ask("PATCH", path, {"state": state})
    for assignees in (["alice"], []):
        await here.ask("PATCH", path, {"assignees": assignees})


async def plan(here: Town) -> None:
    """Put an issue below another one, and let it be blocked by a third."""
    parent, child, by = [await here.get(f"issues/{await here.issue()}") for _ in "abc"]
    top, number = f"issues/{parent['number']}", child["number"]
    sub = {"sub_issue_id": child["id"]}
    await here.post(f"{top}/sub_issues", sub)
    await here.ask("DELETE", f"{top}/sub_issue", sub)
    path = f"issues/{number}/dependencies/blocked_by"
    await here.post(path, {"issue_id": by["id"]})


async def remove(here: Town) -> None:
    here.forge.add_repository("alice/other")
    target = (await here.ask("GET", "", repo="alice/other")).json()["node_id"]
    issues = [await here.get(f"issues/{await here.issue()}") for _ in range(2)]
    first, second = (issue["node_id"] for issue in issues)
    await mutate(here, "deleteIssue", {"issueId": first})
    await mutate(here, "transferIssue", {"issueId": second, "repositoryId": target})


async def work(here: Town, heard: Receiver) -> None:
    """Do to a branch and its pull request whatever is told of."""
    checkout = await here.clone()
    pull = await here.pull(checkout)
    number = pull["number"]
    button = {"label": "Fix", "description": "Fix it", "identifier": "fix"}
    new = {"name": "lint", "head_sha": pull["head"]["sha"], "actions": [button]}
    await here.press((await here.post("check-runs", new))["id"], "fix", by="alice")
    path = f"pulls/{number}"
    await here.post(f"issues/{number}/labels", {"labels": ["brat"]})
    await here.ask("DELETE", f"issues/{number}/labels/brat")
    review = await here.post(f"{path}/reviews", {"event": "APPROVE"}, by="alice")
    mine = f"{path}/reviews/{review['id']}"
    remarks = [{"path": "work.txt", "line": 1, "body": "Hm."}]
    said = {"event": "COMMENT", "comments": remarks}
    await here.post(f"{path}/reviews", said, by="alice")
    await here.ask("PUT", f"{mine}/dismissals", {"message": "Old."}, by="alice")
    for assignees in (["alice"], []):
        await here.ask("PATCH", f"issues/{number}", {"assignees": assignees})
    await here.ask("PATCH", path, {"title": "Other", "body": "More."})
    await checkout.git("push", "--quiet", "origin", "origin/main:refs/heads/side")
    for base in ("side", "main"):
        await here.ask("PATCH", path, {"base": base})
    for state in ("closed", "open"):
        await here.ask("PATCH", path, {"state": state})
    await checkout.git("rm", "--quiet", "README.md")
    commit = await checkout.commit("more.txt", "more")
    await checkout.git("push", "--quiet", "origin", "work", "work:brat/queue/main/x")
    await here.post(f"statuses/{commit}", {"state": "success"})
    await heard.got("check_run.completed")
    await checkout.git("tag", "v1")
    await checkout.git("push", "--quiet", "origin", "work:main", "v1")
    await checkout.git("push", "--quiet", "origin", ":work", ":v1")


PRESSED = {"check_run.requested_action"}
"""Only the App that made the check hears of it."""


async def queue(here: Town, heard: Receiver) -> None:
    number = await rule(here, merge_queue())
    pull = await here.pull(await here.clone(), "queued")
    given = {"pullRequestId": pull["node_id"]}
    for each in ("convertPullRequestToDraft", "markPullRequestReadyForReview"):
        await mutate(here, each, given)
    await mutate(here, "enqueuePullRequest", given)
    await heard.got("pull_request.dequeued")
    await here.ask("DELETE", f"rulesets/{number}", by="alice")


async def test_each_payload_is_as_github_describes_it(
    forge: Forge, source: Path, tmp_path: Path
) -> None:
    tokens = settle_in(forge, source)
    async with (
        receiving() as heard,
        receiving() as app,
        town(forge, tokens, tmp_path, how=hasty("fail")) as here,
    ):
        new = NewApp(
            slug="brat",
            owner="alice",
            public_key=pair()[1],
            permissions=dict.fromkeys(HEARD_BY, "read"),
            events=("*",),
            hook=(app.url, ""),
        )
        Apps(forge).add(new)
        Apps(forge).install("brat", REPO)
        forge.add_hook(REPO, heard.url, "")
        here.judge("true")
        await talk(here)
        await plan(here)
        await remove(here)
        await work(here, heard)
        await queue(here, heard)
        await ended(here, await dispatch(here))
        for each in (heard, app):
            await each.got("workflow_run.completed")
            await each.got("workflow_job.completed")

    came = [*heard.came, *app.came]
    faults = {
        fault
        for host in hosts()
        for one in came
        if host in QUEUEING or one.kind not in OF_QUEUES | OF_PLANS
        for fault in webhooks(host).faults(one.headers["X-GitHub-Event"], one.json)
    }
    assert sorted(faults) == []
    assert {*heard.kinds} == SENT - PRESSED
    assert {*app.kinds} == SENT
    assert all("installation" in one.json for one in app.came)
