"""Reviews of pull requests: drafts, submitted ones, dismissed ones."""

import pytest

from tests.world.forge import REPO, Json, Town
from tests.world.receiver import receiving


async def reviews_of_one(here: Town) -> tuple[Json, str]:
    """Open a pull request, and return it with the path of its reviews."""
    pull = await here.pull(await here.clone())
    return pull, f"pulls/{pull['number']}/reviews"


async def test_reviews_are_given_by_others(here: Town) -> None:
    pull, path = await reviews_of_one(here)
    review = await here.post(path, {"event": "APPROVE"}, by="alice")
    own = await here.ask("POST", path, {"event": "APPROVE"})
    empty = await here.ask("POST", path, {"event": "REQUEST_CHANGES"}, by="alice")

    assert (review["state"], review["commit_id"]) == ("APPROVED", pull["head"]["sha"])
    assert own.json()["message"] == "Can not approve your own pull request"
    assert own.status_code == empty.status_code == 422
    assert await here.get(path) == [review]
    assert await here.get(f"{path}/{review['id']}") == review


async def test_a_draft_is_its_authors_until_it_is_submitted(here: Town) -> None:
    _, path = await reviews_of_one(here)
    async with receiving() as heard:
        here.forge.add_hook(REPO, heard.url, "")
        draft = await here.post(path, {"body": "Hm."}, by="alice")
        mine = f"{path}/{draft['id']}"
        again = await here.ask("POST", path, {"body": "Well."}, by="alice")
        await here.ask("PUT", mine, {"body": "No."}, by="alice")

        assert (draft["state"], "submitted_at" in draft) == ("PENDING", False)
        assert again.status_code == 422
        assert "one pending review" in again.json()["message"]
        assert await here.get(path) == []
        assert (await here.ask("GET", mine)).status_code == 404
        assert len(await here.get(path, by="alice")) == 1

        asked = {"event": "REQUEST_CHANGES"}
        await here.post(f"{mine}/events", asked, by="alice")
        told = (await heard.got("pull_request_review.submitted")).json
    (shown,) = await here.get(path)
    assert (shown["state"], shown["body"]) == ("CHANGES_REQUESTED", "No.")
    assert shown["submitted_at"]
    assert told["review"]["state"] == "changes_requested"
    assert [one for one in heard.kinds if one.startswith("pull_request_review")] == [
        "pull_request_review.submitted"
    ]


async def test_a_draft_is_thrown_away_and_a_review_is_not(here: Town) -> None:
    _, path = await reviews_of_one(here)
    draft = await here.post(path, {"body": "Hm."}, by="alice")
    gone = await here.ask("DELETE", f"{path}/{draft['id']}", by="alice")
    given = await here.post(path, {"event": "COMMENT", "body": "Hm."}, by="alice")
    mine = f"{path}/{given['id']}"
    kept = await here.ask("DELETE", mine, by="alice")
    again = await here.ask("POST", f"{mine}/events", {"event": "APPROVE"}, by="alice")

    assert (gone.status_code, kept.status_code, again.status_code) == (200, 422, 422)
    assert await here.get(path) == [given]


async def test_a_dismissed_review_counts_no_more(here: Town) -> None:
    pull, path = await reviews_of_one(here)
    given = await here.post(path, {"event": "APPROVE"}, by="carol")
    away = f"{path}/{given['id']}/dismissals"
    async with receiving() as heard:
        here.forge.add_hook(REPO, heard.url, "")
        stranger = await here.ask("PUT", away, {"message": "x"}, by="carol")
        done = await here.ask("PUT", away, {"message": "Too old."}, by="alice")
        told = (await heard.got("pull_request_review.dismissed")).json
    twice = await here.ask("PUT", away, {"message": "Too old."}, by="alice")

    assert (stranger.status_code, twice.status_code) == (403, 422)
    assert done.json()["state"] == "DISMISSED"
    assert told["review"]["state"] == "dismissed"
    events = await here.get(f"issues/{pull['number']}/events")
    assert [event["event"] for event in events] == ["review_dismissed"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"comments": [{"path": "a", "body": "x"}]}, "no comments on lines"),
        ({"body": "x" * 65537}, "Body is too long (maximum is 65536 characters)"),
        ({"commit_id": "a" * 40, "event": "APPROVE"}, "not part of the pull request"),
    ],
)
async def test_a_review_that_cannot_be_is_refused(
    here: Town, asked: Json, said: str
) -> None:
    _, path = await reviews_of_one(here)

    answer = await here.ask("POST", path, asked, by="alice")

    assert answer.status_code == 422
    assert said in answer.json()["message"]


async def test_a_locked_pull_request_takes_no_review_of_a_stranger(here: Town) -> None:
    pull, path = await reviews_of_one(here)
    await here.ask("PUT", f"issues/{pull['number']}/lock", by="alice")

    answer = await here.ask("POST", path, {"event": "APPROVE"}, by="carol")

    assert answer.status_code == 403
    assert (
        answer.json()["message"] == "Unable to create review because issue is locked."
    )
