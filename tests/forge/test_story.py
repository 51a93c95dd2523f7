from tests.world.forge import Town, until


async def test_an_issue_is_opened_labelled_commented_and_closed(here: Town) -> None:
    number = await here.issue()
    await here.post(f"issues/{number}/labels", ["brat"], by="carol")
    await here.post(f"issues/{number}/comments", {"body": "On it."})
    await here.ask("PATCH", f"issues/{number}", {"state": "closed"})

    issue = await here.get(f"issues/{number}")
    events = await here.get(f"issues/{number}/events")

    assert issue["state"] == "closed"
    assert [label["name"] for label in issue["labels"]] == ["brat"]
    assert [(e["event"], e["actor"]["login"]) for e in events] == [
        ("labeled", "carol"),
        ("closed", "brat[bot]"),
    ]


async def test_a_push_opens_a_pull_request_that_merges_when_its_base_moves(
    here: Town,
) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await checkout.git("push", "--quiet", "origin", "work:main")

    merged = await here.get(f"pulls/{pull['number']}")

    assert merged["merged"] is True
    assert merged["state"] == "closed"
    assert merged["merge_commit_sha"] == await checkout.git("rev-parse", "work")


async def test_ci_judges_a_candidate(here: Town) -> None:
    here.judge("test -f work.txt")
    checkout = await here.clone()
    await checkout.git("switch", "--quiet", "-c", "work")
    commit = await checkout.commit("work.txt", "x")
    await checkout.git("push", "--quiet", "origin", f"work:brat/queue/main/{commit}")

    async def done() -> object:
        found = await here.get(f"commits/{commit}/check-runs")
        return [r for r in found["check_runs"] if r["status"] == "completed"]

    (check,) = await until(done)
    assert check["conclusion"] == "success"
