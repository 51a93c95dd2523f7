import pytest

from tests.world.forge import Town


async def main_tip(here: Town) -> str:
    return str((await here.get("branches/main"))["commit"]["sha"])


async def test_a_check_run_goes_from_queued_to_completed(here: Town) -> None:
    sha = await main_tip(here)
    made = await here.post("check-runs", {"name": "lint", "head_sha": sha})
    path = f"check-runs/{made['id']}"
    running = await here.ask("PATCH", path, {"status": "in_progress"})
    output = {"title": "2 faults", "summary": "Two.", "text": "a\nb"}
    asked = {"conclusion": "failure", "output": output, "details_url": "http://x.test/"}
    await here.ask("PATCH", path, asked)
    done = await here.get(path)

    assert (made["status"], made["conclusion"]) == ("queued", None)
    assert made["app"]["slug"] == "brat"
    assert running.json()["status"] == "in_progress"
    assert (done["status"], done["conclusion"]) == ("completed", "failure")
    assert done["completed_at"]
    assert done["output"]["title"] == "2 faults"
    assert done["details_url"] == "http://x.test/"


async def test_only_the_newest_of_a_name_counts(here: Town) -> None:
    sha = await main_tip(here)
    for conclusion in ("failure", "success"):
        body = {"name": "ci", "head_sha": sha, "conclusion": conclusion}
        await here.post("check-runs", body)
    await here.post("check-runs", {"name": "lint", "head_sha": sha})

    latest = await here.get("commits/main/check-runs")
    everything = await here.get(f"commits/{sha}/check-runs?filter=all")
    named = await here.get(f"commits/{sha}/check-runs?check_name=ci")
    waiting = await here.get(f"commits/{sha}/check-runs?status=queued")
    of_actions = await here.get(f"commits/{sha}/check-runs?app_id=15368")

    assert of_actions["total_count"] == 0
    assert latest["total_count"] == 2
    assert everything["total_count"] == 3
    assert [run["conclusion"] for run in named["check_runs"]] == ["success"]
    assert [run["name"] for run in waiting["check_runs"]] == ["lint"]


async def test_a_check_run_names_the_pull_requests_it_judges(here: Town) -> None:
    pull = await here.pull(await here.clone())

    body = {"name": "ci", "head_sha": pull["head"]["sha"]}
    made = await here.post("check-runs", body)

    assert [one["number"] for one in made["pull_requests"]] == [pull["number"]]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"head_sha": "main"}, 422),
        ({"name": "ci", "head_sha": "1" * 40}, 422),
        ({"name": "ci", "head_sha": None, "status": "completed"}, 422),
        ({"name": "ci", "head_sha": None, "started_at": "soon"}, 422),
    ],
)
async def test_a_check_run_that_cannot_be_is_refused(
    here: Town, body: dict[str, object], status: int
) -> None:
    if body.get("head_sha", "") is None:
        body = body | {"head_sha": await main_tip(here)}

    assert (await here.ask("POST", "check-runs", body)).status_code == status


async def test_only_apps_write_check_runs(here: Town) -> None:
    body = {"name": "ci", "head_sha": await main_tip(here)}

    answer = await here.ask("POST", "check-runs", body, by="alice")

    assert answer.status_code == 403
    assert "GitHub App" in answer.json()["message"]


async def test_a_check_run_belongs_to_the_app_that_made_it(here: Town) -> None:
    body = {"name": "ci", "head_sha": await main_tip(here)}
    made = await here.post("check-runs", body)
    here.forge.add_user("other[bot]", kind="Bot")
    here.forge.grant("alice/app", "other[bot]", "write")
    here.tokens["other"] = here.forge.add_token("other[bot]")

    path = f"check-runs/{made['id']}"
    answer = await here.ask("PATCH", path, {"conclusion": "success"}, by="other")

    assert answer.status_code == 403


async def test_statuses_are_combined(here: Town) -> None:
    sha = await main_tip(here)
    states = []
    for state, context in (
        ("pending", "a"),
        ("success", "b"),
        ("success", "a"),
        ("error", "b"),
    ):
        body = {"state": state, "context": context, "description": "So it is."}
        await here.post(f"statuses/{sha}", body)
        states.append((await here.get("commits/main/status"))["state"])
    combined = await here.get(f"commits/{sha}/status")
    each = await here.get("commits/main/statuses")
    older = await here.get(f"statuses/{sha}")

    assert states == ["pending", "pending", "success", "failure"]
    assert combined["total_count"] == 2
    assert [one["state"] for one in each] == ["error", "success", "success", "pending"]
    assert older == each


async def test_combined_statuses_come_in_pages(here: Town) -> None:
    sha = await main_tip(here)
    for context in "abc":
        await here.post(f"statuses/{sha}", {"state": "success", "context": context})

    first = await here.ask("GET", f"commits/{sha}/status?per_page=2")
    last = await here.get(f"commits/{sha}/status?per_page=2&page=2")

    assert [one["context"] for one in first.json()["statuses"]] == ["a", "b"]
    assert 'rel="next"' in first.headers["link"]
    assert [one["context"] for one in last["statuses"]] == ["c"]
    assert last["total_count"] == 3
    assert last["state"] == "success"


async def test_a_status_needs_a_commit_and_a_short_text(here: Town) -> None:
    sha = await main_tip(here)
    long = {"state": "success", "description": "x" * 141}

    assert (await here.ask("POST", f"statuses/{sha}", long)).status_code == 422
    nowhere = await here.ask("POST", f"statuses/{'1' * 40}", {"state": "success"})
    assert nowhere.status_code == 422
    assert (await here.ask("GET", "commits/none/status")).status_code == 422
