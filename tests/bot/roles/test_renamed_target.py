"""The default branch is renamed while a convoy is under way."""

import pygit2
import pytest

from convoy.events.hold_events import MergeRequested, MergeWithdrawn
from convoy.rules.people import DropTask
from tests.bot.room import FILES, HEADS, NAME, REPO, Room

pytestmark = pytest.mark.layer("landing")


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
async def test_the_convoy_lands_on_the_branch_by_its_new_name(
    here: Room, *, has_pull: bool
) -> None:
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
    assert here.tip("trunk") == here.convoy.landed
    assert (here.convoy.pull, bool(pull)) == (pull, has_pull)
    assert not any("base" in said for said in here.spoken()[1:])
