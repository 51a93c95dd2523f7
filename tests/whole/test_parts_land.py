"""What is finished lands on the target while other tasks go on, as people type it."""

from pathlib import Path

import pygit2
import pytest

from tests.whole.protected_story import protected
from tests.whole.test_target_moves import AGENT, planned, status
from tests.world.protection_profiles import PROFILES, ProtectionProfile
from tests.world.seen import look
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)
TWO = "Two\n\n- [ ] Spell words\n- [ ] Sort words (after 1)\n"


def begun(folder: Path, more: str = "") -> Terminal:
    """Make a project with the first of two tasks merged."""
    terminal = project(folder, engine(AGENT, more))
    planned(terminal, TWO)
    turn(terminal)
    return terminal


def turn(terminal: Terminal) -> None:
    """Let agents work, then the refinery."""
    terminal.done("brat witness run")
    terminal.done("brat refinery run")


def test_what_is_finished_lands_when_somebody_asks_and_the_rest_later(
    tmp_path: Path,
) -> None:
    terminal = begun(tmp_path)
    (convoy,) = status(terminal)["convoys"]
    name, (first, second) = convoy["name"], convoy["tasks"]
    assert (first["state"], second["state"]) == ("merged", "queued")
    moved = terminal.commit("Say more", {"README.md": "Words.\n"})

    terminal.done(f"brat convoy land {name}")
    again = terminal.type(f"brat convoy land {name}")
    assert again.status == 1
    assert "has asked for that already" in again.err
    terminal.done("brat refinery run")

    seen = look(terminal.cwd / ".git/brat")
    assert {moved, first["landed_commit"]} <= {*seen.ancestors()}
    (convoy,) = status(terminal)["convoys"]
    assert (convoy["state"], convoy["landed_tasks"]) == ("active", [1])
    assert "1 of 2 tasks has landed on main." in terminal.type("brat status").out
    (told,) = seen.comments[str(seen.issue["number"])]
    assert "1 of 2 tasks has landed on main." in told["body"]
    part = seen.git("rev-parse", "main").strip()
    assert [one["conclusion"] for one in seen.checks[part]] == ["success"]
    refused = terminal.type(f"brat convoy land {name}")
    assert "nothing is finished that main does not hold" in refused.err

    turn(terminal)

    (convoy,) = status(terminal)["convoys"]
    assert convoy["state"] == "complete"
    seen = look(terminal.cwd / ".git/brat")
    assert {part, convoy["tasks"][1]["landed_commit"]} <= {*seen.ancestors()}
    assert [pull["merged"] for pull in seen.pulls] == [True] * 3
    assert seen.faults == []


LISTING = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo by task $BRAT_TASK > LIST"]
[refinery]
land = "parts"
"""
MERGED = [one for one in PROFILES if one.name in ("linear history", "merge queue")]


@pytest.mark.parametrize("profile", MERGED, ids=lambda one: one.name)
async def test_the_forge_merges_a_part_where_the_target_takes_no_push(
    tmp_path: Path, profile: ProtectionProfile
) -> None:
    plan = "- [ ] one\n- [ ] two (after 1)\n"
    story = protected(tmp_path, profile, config=LISTING, plan=plan)
    async with story as (here, _):

        def is_over() -> bool:
            return [c.state for c in here.state().convoys.values()] == ["complete"]

        await here.shows(is_over)

    (convoy,) = here.state().convoys.values()
    assert convoy.parts.tasks == (1,)
    assert [task.spec.kind for task in convoy.tasks] == ["work", "work"]
    pulls = [one for one in here.forge.store.pulls.all() if one.base == "main"]
    assert [one.head for one in pulls] == [
        f"convoy/{convoy.name}/part-1",
        f"convoy/{convoy.name}/base",
    ]
    assert all(one.merged_at for one in pulls)
    by = [here.forge.store.users.get(one.merged_by or 0) for one in pulls]
    assert [one and one.login for one in by] == [profile.landed_by] * 2
    tip = here.bare.tip("main")
    assert tip is not None
    listed = here.bare.file(tip, "LIST")
    assert isinstance(listed, pygit2.Blob)
    assert listed.data == b"by task 2\n"
