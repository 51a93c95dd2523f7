"""A person updates, merges or renames a branch on the forge.

"Update branch" merges the pull request's base into its branch, as whoever pressed it:
https://docs.github.com/rest/pulls/pulls#update-a-pull-request-branch
"""

from pathlib import Path

import pygit2
import pytest

from convoy.events.hold_events import MergeRequested, MergeWithdrawn
from convoy.model import ids
from convoy.rules.people import DropTask
from tests.bot.history import BEA, History
from tests.bot.requests.test_closed_pulls import called, drafted, kept_back
from tests.bot.room import FILES, HEADS, NAME, REPO, Room, room
from tests.bot.there import there
from tests.world.github_forge.extension import github

pytestmark = pytest.mark.layer("landing")

BASE = ids.base_branch(NAME)
OWN = ids.task_branch(NAME, 1)
PUSHED = "Someone pushed"


async def update(
    here: Room, branch: str, taken: str, files: dict[str, bytes], said: str = "Merge"
) -> str:
    """Press the button, as bea; `files` are those of the merge."""
    made = here.history().commit(files, here.tip(branch), taken, message=said, by=BEA)
    await here.push(f"{made}:{HEADS}{branch}", by=here.let_in("bea"))
    await here.swept()
    return made


async def add_to_main(here: Room, name: str) -> None:
    main = here.tip("main")
    made = here.history().commit(here.history().files(main) | {name: b"1\n"}, main)
    await here.push(f"{made}:{HEADS}main")
    await here.swept()


@pytest.mark.parametrize("strategy", ["squash", "merge", "rebase"])
async def test_a_task_goes_on_from_an_update_of_its_branch(
    tmp_path: Path, strategy: str
) -> None:
    async with room(tmp_path, f'[refinery]\nstrategy = "{strategy}"\n') as here:
        await goes_on(here, by_merge=strategy == "merge")


async def goes_on(here: Room, *, by_merge: bool) -> None:
    await here.worked(1, FILES | {"one.py": b"1\n"})
    await here.landed_on_base({"README.md": b"# app\n", "other.py": b"1\n"})
    await here.swept()
    files = FILES | {"one.py": b"1\n", "other.py": b"1\n"}
    first = await update(here, OWN, here.tip(BASE), files)

    assert there(here.task(1).work).commit == first
    assert kept_back(here) == []
    assert called(here, PUSHED) == 0
    assert there(here.task(1).candidate).work == first, "CI is to judge it"
    await here.until(lambda: here.task(1).state == "merged", red=frozenset())
    assert here.history().files(here.tip(BASE)) == files
    landed = History(here.bare).at(here.tip(BASE))
    assert landed.author.name != BEA[0], "whose work it is"
    assert len(landed.parent_ids) == 1 + by_merge


@pytest.mark.room("[refinery]\nsync = false\n")
async def test_a_convoy_goes_on_from_updates_of_its_branch(here: Room) -> None:
    await here.worked(1, FILES)
    await here.until(lambda: here.task(1).state == "merged", red=frozenset())
    known = here.history().files(here.tip(BASE))
    await add_to_main(here, "first.py")
    first = {"first.py": b"1\n"}
    await update(here, BASE, here.tip("main"), known | first)
    await add_to_main(here, "second.py")
    files = known | first | {"second.py": b"1\n"}
    made = await update(here, BASE, here.tip("main"), files)

    assert here.convoy.tip == made
    assert kept_back(here) == []
    await here.worked(2, files | {"two.py": b"2\n"})
    await here.until(lambda: here.convoy_state() == "complete", red=frozenset())
    assert here.history().files(here.tip("main")) == files | {"two.py": b"2\n"}
    assert called(here, PUSHED) == 0


@pytest.mark.parametrize("how", ["more", "less", "word", "elsewhere"])
async def test_a_merge_that_brings_more_than_its_base_is_somebodys_push(
    here: Room, how: str
) -> None:
    await here.worked(1, FILES)
    await here.landed_on_base({"README.md": b"# app\n", "other.py": b"1\n"})
    await here.swept()
    files = FILES | {"other.py": b"1\n"}
    taken, said = here.tip(BASE), "Merge"
    match how:
        case "more":
            files = files | {"evil.py": b"1\n"}
        case "less":
            files = FILES
        case "word":
            said = "Merge\n\nFixes #1"
        case _:
            taken = here.history().commit(files, here.tip("main"))
    made = await update(here, OWN, taken, files, said)

    assert f"a decision about {made[:10]}, which was pushed" in kept_back(here)[0]
    assert called(here, PUSHED) == 1


# --- merges ---------------------------------------------------------------------------


NEW = {"new.py": b"1\n"}
CI, APPROVED = "", "[refinery]\napprovals = 1\n"


async def merge(here: Room, method: str, by: str = "bea") -> str:
    """Merge the pull request of task 1, which is no draft any more."""
    if not here.convoy.settings.approvals:
        await drafted(here, here.pull(1), is_draft=False)
    path = f"pulls/{here.pull(1)}/merge"
    made = await here.asked("PUT", path, {"merge_method": method}, by=here.let_in(by))
    return str(made["sha"])


async def green(here: Room, commit: str) -> None:
    said = {"context": "ci", "state": "success", "description": "tests"}
    await here.asked("POST", f"statuses/{commit}", said)


@pytest.mark.parametrize("method", ["merge", "squash"])
@pytest.mark.parametrize("config", [CI, APPROVED], ids=["ci", "approval"])
async def test_a_persons_merge_of_green_work_is_its_approval(
    tmp_path: Path, config: str, method: str
) -> None:
    async with room(tmp_path, config, extend=github) as here:
        work = await here.worked(1, FILES | NEW)
        await here.landed_on_base(FILES | {"other.py": b"1\n"})
        await here.swept()
        await green(here, work)
        made = await merge(here, method)
        await here.swept(2)

        assert (here.task(1).state, here.task(1).landed) == ("merged", made)
        assert (here.tip(BASE), here.convoy.tip) == (made, made)
        assert kept_back(here) == []
        assert called(here, "bea merged this pull request.") == 1
        assert called(here, "Someone pushed") == 0
        files = FILES | NEW | {"other.py": b"1\n"}
        await here.worked(2, files | {"two.py": b"2\n"})
        for _ in range(4):
            if here.task(2).state == "needs-review" and config:
                head = there(here.task(2).work).commit
                said = f"/brat approve {head}"
                await here.said(said, by="bea", on=here.pull(2))
            await here.judged()
            await here.swept()
        assert here.convoy_state() == "complete"
        assert here.history().files(here.tip("main")) == files | {"two.py": b"2\n"}


@pytest.mark.parametrize("why", ["CI", "bot", "two"])
async def test_a_merge_of_work_that_did_not_pass_is_asked_about_with_the_reason(
    tmp_path: Path, why: str
) -> None:
    config = "[refinery]\napprovals = 2\n" if why == "two" else CI
    async with room(tmp_path, config, extend=github) as here:
        work = await here.worked(1, FILES | NEW)
        if why != "CI":
            await green(here, work)
        await here.landed_on_base(FILES | {"other.py": b"1\n"})
        made = await merge(here, "squash", "mergify[bot]" if why == "bot" else "bea")
        await here.swept(2)

        assert here.task(1).state == "needs-review"
        assert f"someone pushed {made[:10]} to {BASE}" in kept_back(here)[0]
        told = {
            "CI": f"CI is not green on {work[:10]}",
            "bot": "it is no person's merge of the task's work alone",
            "two": "task 1 is waiting for 1 more approval of its work",
        }
        assert called(here, told[why]) == 1


def rename(here: Room, name: str) -> None:
    """Rename the default branch; GitHub gives its pull requests the new base.

    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
    """
    repo, git = here.forge.known(REPO), pygit2.Repository(str(here.bare))
    git.references.create(HEADS + name, here.tip(repo.default_branch))
    git.references.delete(HEADS + repo.default_branch)
    git.set_head(HEADS + name)
    pulls = here.forge.store.pulls
    for pull in pulls.all():
        if pull.base == repo.default_branch:
            pulls.change(pull, base=name)
    here.forge.update(repo, default_branch=name)


@pytest.mark.parametrize("has_pull", [False, True])
@pytest.mark.room("[refinery]\nrequire_ci = false\n")
async def test_a_convoy_lands_on_the_new_name(here: Room, *, has_pull: bool) -> None:
    """So does one with a pull request to the old name."""
    await here.do(DropTask(convoy=NAME, task=2, why="not wanted"))
    if has_pull:
        await here.do(MergeWithdrawn(convoy=NAME, task=0, by="you"))
        await here.worked(1, FILES)
    pull = here.convoy.pull
    rename(here, "trunk")
    if has_pull:
        await here.swept()
        await here.do(MergeRequested(convoy=NAME, task=0, by="you"))
    else:
        await here.worked(1, FILES)
    await here.swept(2)

    assert (here.convoy_state(), here.convoy.target) == ("complete", "trunk")
    if has_pull:
        assert here.convoy.pull == there(pull)
        assert not any("base" in said for said in here.spoken()[1:])
    else:
        assert here.tip("trunk") == there(here.task(1).landed)
