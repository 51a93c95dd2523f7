"""A convoy lands on a protected branch in the way that it said, or waits for people."""

from pathlib import Path

import pygit2
import pytest

from brat.forge.resources.forge_records import Ci
from brat.forge.service.running_forge import Service
from brat.forge.storage.git_storage import Move
from brat.repository.registration import FORGE_FOLDER
from convoy.views import state_document
from tests.whole.protected_story import Protected, protected
from tests.world.github_forge import profiles
from tests.world.github_forge.merge_queues import ADDED
from tests.world.layers import sampled
from tests.world.protection_profiles import PROFILES, ProtectionProfile

pytestmark = pytest.mark.timeout(300)
(QUEUE,) = (one for one in PROFILES if one.name == "merge queue")
LANDING = [(one,) for one in PROFILES if one.name in {"strict", "reviews"}]


@pytest.mark.parametrize(
    "profile", sampled(zip(PROFILES), [*LANDING, (QUEUE,)]), ids=lambda one: one.name
)
async def test_a_convoy_lands_in_the_way_that_it_said(
    tmp_path: Path, profile: ProtectionProfile
) -> None:
    async with protected(tmp_path, profile) as (here, doctor):
        if profile.answer is not None:
            waits = f"**Landing is waiting for** {profile.waits_for}"
            await here.shows(lambda: here.says(waits))
            waiting = here.pull()
            shown = state_document(here.state(), 0)["interventions"]
            push = {"sha": waiting.head_sha}
            pushed = await here.person("PATCH", "git/refs/heads/main", push)
            method, path, body = profile.answer
            asked = f"pulls/{waiting.number}/{path}"

            answered = await here.person(method, asked, body)

            assert (waiting.merged_at, pushed, answered) == (None, 422, 200)
            assert any(profile.waits_for in str(each["why"]) for each in shown), shown
        await here.shows(here.is_over)
        _landed_as_said(here, profile)

    told = "if you set [refinery] bypass = true" if profile.passes_by else profile.way
    lands = next(one for one in doctor.splitlines() if "how a convoy lands" in one)
    assert told in lands
    assert any(profile.way in one for one in here.said_first), here.said_first


LACKS = "mended.txt-is-not-there"
OLDEST = min(each for each in profiles.names() if each.startswith("ghes-"))


@pytest.mark.parametrize("server", ["github.com", OLDEST])
async def test_the_manifests_permissions_are_enough_in_private(
    tmp_path: Path, server: str
) -> None:
    profiles.choose(tmp_path / FORGE_FOLDER, server)
    unprotected = PROFILES[0]
    async with protected(tmp_path, unprotected, private=True) as (here, _):
        await here.shows(here.is_over)
        _landed_as_said(here, unprotected)


@pytest.mark.parametrize(
    "profile", [one for one in PROFILES if one.moves], ids=lambda one: one.name
)
async def test_what_lands_has_all_that_came_meanwhile(
    tmp_path: Path, profile: ProtectionProfile
) -> None:
    async with protected(tmp_path, profile, at_start=advance) as (here, _):
        await here.shows(here.is_over)
        tip = _landed_as_said(here, profile)

        assert here.bare.file(tip, "other.txt") is not None


async def test_what_the_queue_puts_out_is_mended_and_lands(tmp_path: Path) -> None:
    async with protected(tmp_path, QUEUE, at_start=judge_groups_harder) as (here, _):
        await here.shows(here.is_over)
        tip = _landed_as_said(here, QUEUE)

        assert here.bare.file(tip, "mended.txt") is not None
        (convoy,) = here.state().convoys.values()
        told = convoy.tasks[-1].spec.instructions
        assert "removed the pull request (failed_checks)" in told
        assert LACKS in told


async def test_what_a_person_takes_out_of_the_queue_waits_until_it_is_put_in_again(
    tmp_path: Path,
) -> None:
    gate = tmp_path / "gate"
    waits = f"gh-readonly-queue/*) until test -e {gate}; do sleep 0.1; done"

    def hold_groups(here: Protected, _: Service) -> None:
        ci = Ci(command=f"case $GITHUB_REF_NAME in {waits} ;; esac", box="off")
        here.forge.set_ci(here.known.repository, ci)

    async with protected(tmp_path, QUEUE, at_start=hold_groups) as (here, _):
        events = here.forge.store.issue_events
        await here.shows(lambda: ADDED in {one.event for one in events.all()})
        await here.dequeue()
        await here.shows(lambda: here.says("you removed its pull request from"))
        shown = state_document(here.state(), 0)
        (told,) = (one["why"] for one in shown["interventions"])
        number = here.pull().number
        assert told == f"pull request #{number} was removed from the merge queue"
        assert [one["state"] for one in shown["convoys"][0]["tasks"]] == ["merged"]

        gate.touch()
        comments = f"issues/{number}/comments"
        assert await here.person("POST", comments, {"body": "/brat merge"}) == 201
        await here.shows(here.is_over)
        _landed_as_said(here, QUEUE)


def judge_groups_harder(here: Protected, _: Service) -> None:
    """Let CI find in the queue what it finds nowhere else."""
    groups = f"gh-readonly-queue/*) test -e mended.txt || {{ echo {LACKS}; exit 1; }}"
    ci = Ci(command=f"case $GITHUB_REF_NAME in {groups} ;; esac")
    here.forge.set_ci(here.known.repository, ci)


def _landed_as_said(here: Protected, profile: ProtectionProfile) -> str:
    """Check what landed, and who landed it; return the commit."""
    pull, store = here.pull(), here.forge.store
    tip = here.bare.tip("main")
    assert tip is not None
    landed = here.bare.commit(tip)
    by = store.users.get(pull.merged_by or 0)
    assert landed is not None
    assert by is not None
    judged = [
        commit.tree_id
        for one in store.check_runs.all()
        if (one.name, one.conclusion) == ("ci", "success")
        and (commit := here.bare.commit(one.head_sha)) is not None
    ]
    assert pull.merge_commit == tip
    assert by.login == profile.landed_by
    assert len(landed.parents) == profile.parents
    assert landed.tree_id in judged
    assert here.bare.file(tip, "done.txt") is not None
    return tip


def advance(here: Protected, service: Service) -> None:
    """Let main move on, as somebody does who may pass the rules by."""
    git, tip = here.bare.git, here.bare.tip("main")
    assert tip is not None
    top = git[tip].peel(pygit2.Commit)
    tree = git.TreeBuilder(top.tree)
    tree.insert("other.txt", git.create_blob(b"other"), pygit2.enums.FileMode.BLOB)
    by = pygit2.Signature("you", "you@example.org")
    made = str(git.create_commit(None, by, by, "Other\n", tree.write(), [tip]))
    move = Move("refs/heads/main", tip, made)
    here.bare.move(move.ref, made)
    repo = here.forge.known(here.known.repository)
    service.settle(repo, service.renderer.owner(repo), [move])
