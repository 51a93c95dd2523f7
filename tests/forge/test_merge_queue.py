"""The merge queue of the tests' forge: what it takes, builds, lands and puts out."""

from collections.abc import AsyncIterator

import pytest

from tests.forge.mutations import query
from tests.forge.pushing import green, tips
from tests.world.forge import (
    REPO,
    Checkout,
    Json,
    Town,
    until,
)
from tests.world.forge_rules import checks, merge_queue, pull_request, rule
from tests.world.receiver import Receiver, receiving

pytestmark = pytest.mark.layer("landing")

QUEUED = "gh-readonly-queue/main/"
SEEN = """
query ($number: Int!) {
  repository(owner: "alice", name: "app") {
    pullRequest(number: $number) {
      id headRefOid isInMergeQueue isMergeQueueEnabled merged mergeStateStatus
      mergeCommit { oid } mergedBy { login }
      mergeQueueEntry {
        state position headCommit { oid } baseCommit { oid } enqueuer { login }
        pullRequest { number } mergeQueue { id }
      }
    }
    mergeQueue(branch: "main") {
      configuration { mergeMethod mergingStrategy checkResponseTimeout }
      entries(first: 10) { totalCount nodes { position pullRequest { number } } }
    }
  }
}"""
ENQUEUE = """
mutation ($in: EnqueuePullRequestInput!) {
  enqueuePullRequest(input: $in) { mergeQueueEntry { position state } }
}"""


async def seen(here: Town, number: int = 1) -> Json:
    """Return what GraphQL shows of a pull request."""
    answer = await query(here, SEEN, {"number": number})
    assert "errors" not in answer, answer
    return answer["data"]["repository"]["pullRequest"]


async def enqueue(here: Town, number: int = 1, **more: Json) -> Json:
    """Put a pull request into the queue; return the answer."""
    pull = await seen(here, number)
    given = {"pullRequestId": pull["id"], "expectedHeadOid": pull["headRefOid"]}
    return await query(here, ENQUEUE, {"in": given | more})


async def ready(here: Town, checkout: Checkout, branch: str = "work") -> Json:
    """Open a pull request whose own check is green."""
    pull = await here.pull(checkout, branch)
    await green(here, pull["head"]["sha"], "ci")
    return pull


async def queued(here: Town, branch: str = "work") -> str:
    """Open a pull request and put it into the queue; return the group to judge."""
    pull = await ready(here, await here.clone(), branch)
    answer = await enqueue(here, pull["number"])
    assert "errors" not in answer, answer
    return await group(here, pull["number"])


async def group(here: Town, number: int, but: str = "") -> str:
    """Wait until a pull request's group is built, and is not `but`; return it."""

    async def built() -> str:
        entry = (await seen(here, number))["mergeQueueEntry"]
        commit = entry["headCommit"] if entry is not None else None
        return commit["oid"] if commit is not None and commit["oid"] != but else ""

    return str(await until(built))


async def told(heard: Receiver, kind: str) -> Json:
    """Return the payload of an event."""
    return (await heard.got(kind)).json


@pytest.fixture
async def heard(here: Town) -> AsyncIterator[Receiver]:
    await rule(here, merge_queue(), pull_request(), checks("ci"))
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        yield receiver


@pytest.mark.parametrize("method", ["MERGE", "SQUASH", "REBASE"])
async def test_what_was_judged_is_what_lands(here: Town, method: str) -> None:
    await rule(here, merge_queue(method), pull_request(), checks("ci"))
    base = tips(here)["refs/heads/main"]
    commit = await queued(here)
    before = await seen(here)
    branch = f"refs/heads/{QUEUED}main"
    async with receiving() as heard:
        here.forge.add_hook(REPO, heard.url, "")

        await green(here, commit, "ci")

        pushed = await told(heard, "push")
        closed = await told(heard, "pull_request.closed")
        out = await told(heard, "pull_request.dequeued")
        destroyed = await told(heard, "merge_group.destroyed")
    after = await seen(here)
    made = here.forge.bare(here.forge.known(REPO)).commit(commit)
    assert made is not None
    assert before["mergeQueueEntry"] | {"mergeQueue": None} == {
        "state": "AWAITING_CHECKS",
        "position": 1,
        "headCommit": {"oid": commit},
        "baseCommit": {"oid": base},
        "enqueuer": {"login": "brat[bot]"},
        "pullRequest": {"number": 1},
        "mergeQueue": None,
    }
    assert before["isInMergeQueue"] is before["isMergeQueueEnabled"] is True
    assert len(made.parents) == (2 if method == "MERGE" else 1)
    assert tips(here)["refs/heads/main"] == commit
    assert not any(name.startswith(branch) for name in tips(here))
    assert (pushed["ref"], pushed["after"]) == ("refs/heads/main", commit)
    assert closed["pull_request"]["merged"] is True
    assert closed["pull_request"]["merge_commit_sha"] == commit
    assert (out["reason"], destroyed["reason"]) == ("MERGE", "merged")
    assert destroyed["merge_group"]["head_ref"] == (f"refs/heads/{QUEUED}pr-1-{base}")
    assert (after["merged"], after["mergeCommit"]) == (True, {"oid": commit})
    assert after["mergedBy"] == {"login": "github-merge-queue[bot]"}
    assert after["isInMergeQueue"] is False


async def test_a_red_group_leaves_and_those_behind_are_built_again(
    here: Town, heard: Receiver
) -> None:
    first = await queued(here, "one")
    second = await queued(here, "two")
    red = {"name": "ci", "head_sha": first, "conclusion": "failure"}
    await here.post("check-runs", red)

    again = await group(here, 2, but=second)
    out = await told(heard, "pull_request.dequeued")
    await green(here, again, "ci")
    await told(heard, "pull_request.closed")
    destroyed = [
        one.json["reason"]
        for one in heard.came
        if one.headers["X-GitHub-Event"] == "merge_group"
        and one.json["action"] == "destroyed"
    ]

    assert (out["number"], out["reason"]) == (1, "CI_FAILURE")
    assert destroyed[:2] == ["dequeued", "invalidated"]
    assert tips(here)["refs/heads/main"] == again
    checkout = await here.clone()
    assert not (checkout.folder / "one.txt").exists()
    assert (checkout.folder / "two.txt").exists()
