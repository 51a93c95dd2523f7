"""A hostile result is refused with a reason that is told, and nothing of it is pushed.

Each is handed in to a bot on a real forge: branches stand where they stood, and what
the bot pushes is its log and its comment.
"""

import asyncio
import html
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.repository.strangers_commits import COMMITS_MOST
from bot.roles.witness import collect
from convoy.model import ids
from convoy.owed import Collect
from grite import lease
from tests.bot.hostile import Work
from tests.bot.result_artifacts import result, zipped
from tests.bot.room import NAME, SHELL, Room, room

CONFIG = f"""\
{SHELL}
[mayor]
tasks = 100

[witness]
failures = 1000
"""
RUNS = 100
TOKEN = b"ghp_" + b"a1B2c3D4e5" * 4
ALWAYS = {"refs/grite/wal", lease.ref_of("repo:bot")}


class Stage:
    """A task in session, and an agent's repository on the base it was given."""

    def __init__(self, here: Room, number: int, folder: Path, base: str) -> None:
        self.here = here
        self.number = number
        self.base = base
        self.work = Work(folder, here.context.mirror.path, base)
        self.session = ids.session_name(NAME, number, 1)

    def parcel(self, *more: tuple[str, bytes], **given: object) -> bytes:
        own = {"session": self.session, "nonce": f"nonce{self.number}"}
        told = result(**own, base=self.base, **given)
        return zipped(("result.json", told), *more)

    def with_work(self, commit: str, **given: object) -> bytes:
        bundle = self.work.bundled(commit)
        return self.parcel(("work.bundle", bundle), commit=commit, **given)

    def committed(self, *steps: Mapping[str, bytes | None], **given: object) -> bytes:
        tip = self.base
        for each in steps:
            tip = self.work.commit(each, tip)
        return self.with_work(tip, **given)

    async def hand_in(self, data: bytes) -> str:
        """Let the bot take it; return the reason that the log tells."""
        here, context = self.here, self.here.context
        draft = context.draft()
        collect(draft, Collect(NAME, self.number, RUNS + self.number), data)
        await here.pushed(draft)
        task = here.task(self.number)
        assert task.attempt is None
        assert task.work is None
        return task.why

    async def refs(self) -> dict[str, str]:
        return await asyncio.to_thread(self.here.context.mirror.remote.refs)


def links_out(stage: Stage) -> bytes:
    link = stage.work.blob(b"../../etc/passwd")
    return stage.with_work(stage.work.on_base(stage.work.tree(("120000", "l", link))))


def a_submodule(stage: Stage) -> bytes:
    tree = stage.work.tree(("160000", "sub", "c" * 40))
    return stage.with_work(stage.work.on_base(tree))


def on_another_base(stage: Stage) -> bytes:
    alone = stage.work.history.commit({"a": b"1\n"})
    return stage.with_work(stage.work.history.commit({"a": b"2\n"}, alone))


def another_tasks_commit(stage: Stage) -> bytes:
    """Name a commit that the bot has, but that is not what the bundle holds."""
    mine = stage.work.commit({"mine": b"1\n"}, stage.base)
    theirs = stage.here.history().commit({"theirs": b"1\n"}, stage.base)
    return stage.parcel(("work.bundle", stage.work.bundled(mine)), commit=theirs)


def a_second_root(stage: Stage) -> bytes:
    """Merge a history of its own, in which a workflow stands."""
    work = stage.work
    root = work.history.commit({".github/workflows/x.yml": b"on: push\n"})
    other = work.history.commit({"x": b"1\n"}, root)
    tree = str(work.history.at(work.commit({"x": b"1\n"}, stage.base)).tree_id)
    return stage.with_work(work.on_base(tree, stage.base, other))


def many_commits(stage: Stage) -> bytes:
    tip, history = stage.base, stage.work.history
    for number in range(COMMITS_MOST + 1):
        tip = history.commit({"a": b"%d\n" % number}, tip)
    return stage.with_work(tip)


WORKFLOW = ".github/workflows/x.yml"
RUN = {WORKFLOW: b"on: push\n"}
FAILED = {"conclusion": "failure", "why": "It gave up."}
PROTECTED = "changes a protected path: "
SECRET = "adds what looks like a secret: a.env"
Steps = list[dict[str, bytes | None]]
CASES: dict[str, tuple[Callable[[Stage], bytes] | Steps, str]] = {
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
    "a link out of the tree": (links_out, "adds or changes a symbolic link: l"),
    "a submodule": (a_submodule, "adds or changes a submodule: sub"),
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
    "a tree that is a bomb": (lambda s: s.with_work(s.work.tree_bomb()), "The work "),
    "folders without end": (lambda s: s.with_work(s.work.deep_tree()), "The work "),
    "a delta that is a bomb": (
        lambda s: s.parcel(("work.bundle", s.work.delta_bomb()), commit="c" * 40),
        "work.bundle cannot be read",
    ),
}


KEPT = {"a link out of the tree", "a submodule", "a protected file"}
"""Work that is kept, where people can look at it, under a ref that nothing reads."""


@pytest.mark.timeout(600)
@pytest.mark.layer("landing")
async def test_a_hostile_result_is_refused_and_nothing_is_pushed(
    tmp_path: Path,
) -> None:
    items = "".join(f"- [ ] {case}\n" for case in CASES)
    async with room(tmp_path / "room", CONFIG, text=items) as here:
        for number, (case, (made, reason)) in enumerate(CASES.items(), 1):
            folder = tmp_path / f"agent-{number}"
            base = await here.started(number, run=RUNS + number)
            stage = Stage(here, number, folder, base)
            before = await stage.refs()

            given = FAILED if reason == FAILED["why"] else {}
            data = (
                stage.committed(*made, **given)
                if isinstance(made, list)
                else made(stage)
            )
            assert reason in await stage.hand_in(data), case
            after = await stage.refs()
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
