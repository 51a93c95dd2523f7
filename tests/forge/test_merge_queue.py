"""The merge queue of the tests' forge: what it takes, builds, lands and puts out."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from brat.forge import Forge
from brat.forge.wire.timestamps import wall_clock
from tests.forge.mutations import query
from tests.forge.pushing import green, tips
from tests.world.forge import (
    REPO,
    Checkout,
    Json,
    Town,
    make_source,
    settle_in,
    town,
    until,
)
from tests.world.forge_rules import checks, merge_queue, pull_request, rule
from tests.world.receiver import Receiver, receiving

pytestmark = pytest.mark.layer("landing")

REVIEW = "At least 1 approving review is required by reviewers with write access."
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
DEQUEUE = """
mutation ($in: DequeuePullRequestInput!) {
  dequeuePullRequest(input: $in) { clientMutationId mergeQueueEntry { position } }
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


async def test_the_owners_command_judges_groups(here: Town) -> None:
    await rule(here, merge_queue(), checks("ci"))
    here.judge("test -e work.txt", branches=("work",))
    pull = await here.pull(await here.clone())

    async def judged() -> bool:
        state: str = (await seen(here))["mergeStateStatus"]
        return state == "CLEAN"

    await until(judged)
    await enqueue(here)

    async def merged() -> bool:
        return bool((await seen(here))["merged"])

    await until(merged)
    assert (await seen(here))["mergeCommit"]["oid"] == tips(here)["refs/heads/main"]
    assert pull["head"]["sha"] != tips(here)["refs/heads/main"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([checks("ci")], 'Pull request Required status check "ci" is expected.'),
        (
            [pull_request(1)],
            f"Pull request {REVIEW}",
        ),
    ],
)
async def test_what_lacks_checks_or_reviews_is_not_taken(
    here: Town, rules: list[Json], said: str
) -> None:
    await rule(here, merge_queue(), *rules)
    await here.pull(await here.clone())

    answer = await enqueue(here)

    (error,) = answer["errors"]
    assert (error["type"], error["message"]) == ("UNPROCESSABLE", said)
    assert (await seen(here))["mergeStateStatus"] == "BLOCKED"
    assert (await seen(here))["isInMergeQueue"] is False


async def test_no_pull_request_is_in_the_queue_twice(
    here: Town, heard: Receiver
) -> None:
    await queued(here)

    again = await enqueue(here)
    other = await enqueue(here, expectedHeadOid="0" * 40)

    assert again["errors"][0]["message"] == "Pull request is already in the queue"
    assert "Expected head" in other["errors"][0]["message"]
    assert "pull_request.enqueued" in heard.kinds


async def test_a_branch_without_a_queue_takes_none(here: Town) -> None:
    await here.pull(await here.clone())

    answer = await enqueue(here)

    assert "has no merge queue" in answer["errors"][0]["message"]


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


async def test_a_conflict_with_what_is_ahead_leaves(
    here: Town, heard: Receiver
) -> None:
    await queued(here, "one")
    checkout = await here.clone()
    await checkout.git("switch", "--quiet", "-c", "two")
    sha = await checkout.commit("one.txt", "something else")
    await checkout.git("push", "--quiet", "origin", "two")
    await here.post("pulls", {"title": "Two", "head": "two", "base": "main"})
    await green(here, sha, "ci")

    await enqueue(here, 2)
    out = await told(heard, "pull_request.dequeued")

    assert (out["number"], out["reason"]) == (2, "MERGE_CONFLICT")
    assert (await seen(here, 1))["isInMergeQueue"] is True


async def test_a_new_head_leaves_the_queue(here: Town, heard: Receiver) -> None:
    await queued(here)
    checkout = await here.clone()
    await checkout.git("switch", "--quiet", "work")
    await checkout.commit("more.txt", "more")

    await checkout.git("push", "--quiet", "origin", "work")

    out = await told(heard, "pull_request.dequeued")
    assert out["reason"] == "BRANCH_PROTECTIONS"


async def test_a_person_takes_a_pull_request_out(here: Town, heard: Receiver) -> None:
    await queued(here)
    pull = await seen(here)

    await query(here, DEQUEUE, {"in": {"id": pull["id"]}}, by="alice")

    assert (await told(heard, "pull_request.dequeued"))["reason"] == "MANUAL"
    assert not any(QUEUED in name for name in tips(here))
    refused = await query(here, DEQUEUE, {"in": {"id": pull["id"]}}, by="mallory")
    assert refused["errors"][0]["type"] == "FORBIDDEN"


async def test_who_jumps_is_built_first(here: Town, heard: Receiver) -> None:
    first = await queued(here, "one")
    await ready(here, await here.clone(), "two")

    await enqueue(here, 2, jump=True)
    await group(here, 1, but=first)
    answer = await query(here, SEEN, {"number": 2})

    queue = answer["data"]["repository"]["mergeQueue"]
    assert queue == {
        "configuration": {
            "mergeMethod": "MERGE",
            "mergingStrategy": "ALLGREEN",
            "checkResponseTimeout": 60,
        },
        "entries": {
            "totalCount": 2,
            "nodes": [
                {"position": 1, "pullRequest": {"number": 2}},
                {"position": 2, "pullRequest": {"number": 1}},
            ],
        },
    }
    del heard


async def test_a_green_group_makes_up_for_those_ahead_where_the_rule_says_so(
    here: Town,
) -> None:
    await rule(here, merge_queue(grouping_strategy="HEADGREEN"), checks("ci"))
    first = await queued(here, "one")
    second = await queued(here, "two")
    red = {"name": "ci", "head_sha": first, "conclusion": "failure"}
    await here.post("check-runs", red)
    await green(here, second, "ci")

    async def merged() -> bool:
        return bool((await seen(here, 1))["merged"])

    await until(merged)
    assert tips(here)["refs/heads/main"] == second


async def test_silent_checks_and_lonely_entries_run_out_of_time(tmp_path: Path) -> None:
    late = timedelta()
    with Forge(tmp_path / "forge", clock=lambda: wall_clock() + late) as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as here, receiving() as heard:
            forge.add_hook(REPO, heard.url, "")
            asked = merge_queue(min_entries_to_merge=2)
            await rule(here, asked, checks("ci"))
            commit = await queued(here, "one")
            await green(here, commit, "ci")
            await queued_alone(here)
            waiting = (await seen(here, 1))["mergeQueueEntry"]["state"]

            late = timedelta(minutes=6)
            await here.post(f"statuses/{commit}", {"state": "success"})
            landed = await told(heard, "pull_request.closed")
            await queued(here, "two")
            late = timedelta(minutes=70)
            await here.post(f"statuses/{commit}", {"state": "success"})

            async def reasons() -> list[str]:
                every = [one.json for one in heard.came]
                out = [one for one in every if one.get("action") == "dequeued"]
                return [one["reason"] for one in out] if len(out) > 1 else []

            left = await until(reasons)

    assert (waiting, landed["number"]) == ("MERGEABLE", 1)
    assert left == ["MERGE", "CI_TIMEOUT"]


async def queued_alone(here: Town) -> None:
    """Wait until the first pull request may land but for want of company."""

    async def mergeable() -> bool:
        entry = (await seen(here, 1))["mergeQueueEntry"]
        return entry is not None and entry["state"] == "MERGEABLE"

    await until(mergeable)
