"""A hostile result is refused with a reason that is told, and nothing of it is pushed.

Each is handed in to a bot on a real forge: branches stand where they stood, and what
the bot pushes is its log and its comment.
"""

import asyncio
import html
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.repository.strangers_commits import COMMITS_MOST
from convoy.model import ids
from grite import lease
from tests.bot.hostile import Work
from tests.bot.roles.test_handin import handed_in
from tests.bot.room import NAME, SHELL, room

CONFIG = f"""\
{SHELL}
[mayor]
tasks = 100

[witness]
failures = 1000
"""
TOKEN = b"ghp_" + b"a1B2c3D4e5" * 4
ALWAYS = {"refs/grite/wal", lease.ref_of("repo:bot")}


def on_another_base(work: Work) -> str:
    alone = work.history.commit({"a": b"1\n"})
    return work.history.commit({"a": b"2\n"}, alone)


def another_tasks_commit(work: Work) -> tuple[bytes, str]:
    """Name a commit that the bot has, but that is not what the bundle holds."""
    mine = work.commit({"mine": b"1\n"}, work.base)
    return work.bundled(mine), work.origin.commit({"theirs": b"1\n"}, work.base)


def a_second_root(work: Work) -> str:
    """Merge a history of its own, in which a workflow stands."""
    root = work.history.commit({".github/workflows/x.yml": b"on: push\n"})
    other = work.history.commit({"x": b"1\n"}, root)
    tree = str(work.history.at(work.commit({"x": b"1\n"}, work.base)).tree_id)
    return work.on_base(tree, work.base, other)


def many_commits(work: Work) -> str:
    tip = work.base
    for number in range(COMMITS_MOST + 1):
        tip = work.history.commit({"a": b"%d\n" % number}, tip)
    return tip


Files = dict[str, bytes | None]
WORKFLOW = ".github/workflows/x.yml"
RUN: Files = {WORKFLOW: b"on: push\n"}
FAILED = {"conclusion": "failure", "why": "It gave up."}
PROTECTED = "changes a protected path: "
SECRET = "adds what looks like a secret: a.env"
Made = str | tuple[bytes, str]
"""A commit, or a bundle and the commit that the result names."""
CASES: dict[str, tuple[Callable[[Work], Made] | list[Files], str]] = {
    "another task's commit": (
        another_tasks_commit,
        "work.bundle does not contain the commit that the result names",
    ),
    "a history of its own": (
        on_another_base,
        "the work is not based on the commit that the attempt started from",
    ),
    "a second root": (
        a_second_root,
        f"intermediate commit {PROTECTED}.brat/config.toml, .github",
    ),
    "a workflow": ([RUN], f"The patch {PROTECTED}{WORKFLOW}"),
    "a workflow that is gone again": (
        [RUN | {"a": b"1\n"}, {WORKFLOW: None}],
        f"An intermediate commit {PROTECTED}{WORKFLOW}",
    ),
    "a workflow, of an agent that failed": ([RUN], FAILED["why"]),
    "a link out of the tree": (
        lambda w: w.on_base(w.tree(("120000", "l", w.blob(b"../../etc/passwd")))),
        "adds or changes a symbolic link: l",
    ),
    "a submodule": (
        lambda w: w.on_base(w.tree(("160000", "sub", "c" * 40))),
        "adds or changes a submodule: sub",
    ),
    "a protected file": ([{"AGENTS.md": b"obey me\n"}], f"{PROTECTED}AGENTS.md"),
    "a secret": ([{"a.env": TOKEN}], f"The patch {SECRET}"),
    "a secret that is gone again": (
        [{"a.env": TOKEN, "b": b"1\n"}, {"a.env": None}],
        f"An intermediate commit {SECRET}",
    ),
    "a secret, of an agent that failed": ([{"a.env": TOKEN}], FAILED["why"]),
    "a large file": (
        [{"zeros": bytes(60_000_000)}],
        "The work contains zeros (60000000 bytes)",
    ),
    "a commit without end": (many_commits, "The work has more than 1000 commits"),
    "a tree that is a bomb": (Work.tree_bomb, "The work "),
    "folders without end": (Work.deep_tree, "The work "),
    "a delta that is a bomb": (
        lambda work: (work.delta_bomb(), "c" * 40),
        "work.bundle cannot be read",
    ),
}
KEPT = {"a link out of the tree", "a submodule", "a protected file"}
"""Work that is kept, where people can look at it, under a ref that nothing reads."""


def packed(work: Work, case: Callable[[Work], Made] | list[Files]) -> tuple[bytes, str]:
    if not isinstance(case, list):
        made = case(work)
        return (work.bundled(made), made) if isinstance(made, str) else made
    tip = work.base
    for step in case:
        tip = work.commit(step, tip)
    return work.bundled(tip), tip


@pytest.mark.timeout(600)
@pytest.mark.layer("landing")
async def test_a_hostile_result_is_refused_and_pushes_nothing(tmp_path: Path) -> None:
    items = "".join(f"- [ ] {case}\n" for case in CASES)
    async with room(tmp_path / "room", CONFIG, text=items) as here:
        remote, mirror = here.context.mirror.remote, here.context.mirror.path
        for number, (case, (made, reason)) in enumerate(CASES.items(), 1):
            base = await here.started(number, run=100 + number)
            bundle, commit = packed(Work(tmp_path / f"{number}", mirror, base), made)
            before = await asyncio.to_thread(remote.refs)
            given = FAILED if reason == FAILED["why"] else {}

            file = "work.bundle", bundle
            task = await handed_in(here, file, number=number, commit=commit, **given)

            assert (task.attempt, task.work) == (None, None), case
            assert reason in task.why, case
            after = await asyncio.to_thread(remote.refs)
            refs = before.keys() | after.keys()
            moved = {ref for ref in refs if before.get(ref) != after.get(ref)} - ALWAYS
            kept = {ids.attempt_ref(NAME, number, 1)} if case in KEPT else set()
            assert moved == kept, case
        found = dict(
            zip(CASES, (t.refused_paths for t in here.convoy.tasks), strict=True)
        )
        assert found["a protected file"] == ("AGENTS.md",)
        assert found["a workflow, of an agent that failed"] == ()
        await here.loop.tick()
        comment = html.unescape("\n".join(here.spoken())).replace("\\", "")
        assert [case for case, (_, why) in CASES.items() if why not in comment] == []
