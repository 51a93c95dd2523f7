from base64 import b64decode

import pytest

from tests.world.forge import Town


async def main_tip(here: Town) -> str:
    return str((await here.get("branches/main"))["commit"]["sha"])


async def test_a_ref_is_made_moved_and_deleted(here: Town) -> None:
    checkout = await here.clone()
    new = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:refs/heads/other")
    old = await main_tip(here)

    made = await here.post("git/refs", {"ref": "refs/heads/mine", "sha": old})
    moved = await here.ask("PATCH", "git/refs/heads/mine", {"sha": new})
    found = await here.get("git/ref/heads/mine")
    deleted = await here.ask("DELETE", "git/refs/heads/mine")

    assert made["object"] == {
        "type": "commit",
        "sha": old,
        "url": f"{here.url}/api/v3/repos/alice/app/git/commits/{old}",
    }
    assert (moved.status_code, found["object"]["sha"]) == (200, new)
    assert deleted.status_code == 204
    assert (await here.ask("GET", "git/ref/heads/mine")).status_code == 404


async def test_a_ref_can_be_made_only_once(here: Town) -> None:
    body = {"ref": "refs/grite/locks/0123456789abcdef", "sha": await main_tip(here)}
    await here.post("git/refs", body)

    again = await here.ask("POST", "git/refs", body)

    assert (again.status_code, again.json()["message"]) == (
        422,
        "Reference already exists",
    )


@pytest.mark.parametrize(
    ("ref", "sha", "said"),
    [
        ("heads/x", None, "must start with 'refs/'"),
        ("refs/heads/a..b", None, "not a valid ref name"),
        ("refs/heads/x", "1" * 40, "Object does not exist"),
        ("refs/heads/x", "main", "Object does not exist"),
        ("refs/heads/x", "abc", "Object does not exist"),
    ],
)
async def test_what_is_no_ref_is_refused(
    here: Town, ref: str, sha: str | None, said: str
) -> None:
    body = {"ref": ref, "sha": sha or await main_tip(here)}

    answer = await here.ask("POST", "git/refs", body)

    assert answer.status_code == 422
    assert said in answer.json()["message"]


async def test_a_ref_goes_back_only_by_force(here: Town) -> None:
    old = await main_tip(here)
    checkout = await here.clone()
    new = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")

    refused = await here.ask("PATCH", "git/refs/heads/main", {"sha": old})
    forced = await here.ask("PATCH", "git/refs/heads/main", {"sha": old, "force": True})

    assert refused.json()["message"] == "Update is not a fast forward"
    assert forced.status_code == 200
    assert await main_tip(here) == old != new


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_ref_that_is_not_there_cannot_move(here: Town, method: str) -> None:
    body = {"sha": "1" * 40} if method == "PATCH" else None

    answer = await here.ask(method, "git/refs/heads/none", body)

    assert answer.json()["message"] == "Reference does not exist"


async def test_the_default_branch_stays(here: Town) -> None:
    answer = await here.ask("DELETE", "git/refs/heads/main")

    assert answer.status_code == 422
    assert await main_tip(here)


async def test_refs_are_found_by_how_they_begin(here: Town) -> None:
    checkout = await here.clone()
    for name in ("convoy/a/base", "convoy/a/task-1", "convoy/b/base"):
        await checkout.git("push", "--quiet", "origin", f"HEAD:refs/heads/{name}")

    found = await here.get("git/matching-refs/heads/convoy/a")

    assert [ref["ref"] for ref in found] == [
        "refs/heads/convoy/a/base",
        "refs/heads/convoy/a/task-1",
    ]


async def test_commits_are_read_by_branch_and_by_id(here: Town) -> None:
    checkout = await here.clone()
    sha = await checkout.commit("a.txt", "one\n")
    await checkout.git("push", "--quiet", "origin", "main")

    whole, bare = await here.get("commits/main"), await here.get(f"git/commits/{sha}")
    first = await here.get(f"commits/{bare['parents'][0]['sha']}")

    assert whole["sha"] == bare["sha"] == sha
    assert whole["stats"] == {"additions": 1, "deletions": 0, "total": 1}
    assert [file["filename"] for file in whole["files"]] == ["a.txt"]
    assert bare["message"] == "Write a.txt\n"
    assert [file["status"] for file in first["files"]] == ["added"]
    assert (await here.ask("GET", "commits/none")).status_code == 422


async def test_a_file_is_read_at_a_ref(here: Town) -> None:
    checkout = await here.clone()
    await checkout.commit("src/a.txt", "one\n")
    await checkout.git("push", "--quiet", "origin", "HEAD:refs/heads/other")

    file = await here.get("contents/src/a.txt?ref=other")

    assert b64decode(file["content"]) == b"one\n"
    assert (file["name"], file["size"], file["type"]) == ("a.txt", 4, "file")
    for missing in ("contents/src/a.txt", "contents/README.md?ref=none"):
        assert (await here.ask("GET", missing)).status_code == 404


async def test_a_branch_with_slashes_is_found(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("push", "--quiet", "origin", "HEAD:refs/heads/convoy/a/base")

    branch = await here.get("branches/convoy/a/base")

    assert branch["name"] == "convoy/a/base"
    assert branch["protected"] is False
    assert (await here.ask("GET", "branches/none")).status_code == 404


async def test_two_branches_are_compared(here: Town) -> None:
    checkout = await here.clone()
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:other")

    ahead = await here.get("compare/main...other")
    behind = await here.get("compare/other...main")

    assert (ahead["status"], ahead["ahead_by"]) == ("ahead", 1)
    assert (behind["status"], behind["behind_by"]) == ("behind", 1)
    assert [file["filename"] for file in ahead["files"]] == ["a.txt"]
    assert (await here.get("compare/main...main"))["status"] == "identical"


async def test_an_empty_repository_can_be_filled(here: Town) -> None:
    here.forge.add_repository("alice/empty")
    here.forge.grant("alice/empty", "brat[bot]", "write")
    checkout = await here.clone()

    await checkout.git("push", "--quiet", f"{here.url}/alice/empty.git", "main")

    assert (await here.get("/repos/alice/empty/branches/main"))["name"] == "main"
