"""Logs that older versions wrote are read as those read them."""

import json
import sys
from pathlib import Path

from convoy.events.task_events import TaskBlocked
from convoy.log import CLOSE, FORMER_EVENTS, OPEN, VERSION, body_of
from convoy.log.record import UnknownFact, fact_of
from grite import git
from tests.world.cases import looped
from tests.world.program import ran

GOLDEN = Path(__file__).with_name("golden")
LATER: dict[str, object] = {"landing": None}
"""What status says of a convoy since then, where its log says nothing of it."""
UNREAD = frozenset(
    {("", "overlaps"), ("convoys", "overlaps"), ("estimate", "attempts")}
    | {("settings", "max_size"), ("settings", "merge"), ("settings", "followups")}
    | {("settings", "notify")}
    | {("tasks", "follows"), ("parts", "follows"), ("spec", "follows")}
    | {("", "followups"), ("report", "followups")}
    | {("settings", "splitter"), ("", "splits")}
)
"""The fields, by what holds them, that no version reads or says any more."""
BODIES: list[str] = json.loads((GOLDEN / "bodies.json").read_text())


@looped(*range(len(BODIES)))
def test_an_event_is_read_and_would_be_written_again(number: int) -> None:
    body = BODIES[number]

    fact = fact_of(body)

    if fields_of(body)["type"] in FORMER_EVENTS:
        assert fact is None
        return
    assert fact is not None
    assert not isinstance(fact, UnknownFact)
    again = body_of(fact, body.rpartition("\n\n")[0])
    assert again == body or holds(fields_of(again), fields_of(body))


def fields_of(body: str) -> dict[str, object]:
    line = body.rpartition("\n")[2]
    fields: dict[str, object] = json.loads(line.removeprefix(OPEN).removesuffix(CLOSE))
    return fields


def holds(now: object, then: object, within: str = "") -> bool:
    """Whether a value is the old one, but for fields that have come or gone since."""
    if isinstance(now, dict) and isinstance(then, dict):
        kept = [name for name in then if (within, name) not in UNREAD]
        return all(name in now and holds(now[name], then[name], name) for name in kept)
    if isinstance(now, list) and isinstance(then, list):
        pairs = zip(now, then, strict=False)
        return len(now) == len(then) and all(holds(a, b, within) for a, b in pairs)
    return now == then


def test_a_log_adds_up_to_the_same_state(tmp_path: Path) -> None:
    git.run(["init", "--quiet", "--bare", "."], cwd=tmp_path)
    refs = "refs/grite/wal:refs/grite/wal"
    git.run(["fetch", "--quiet", str(GOLDEN / "demo.bundle"), refs], cwd=tmp_path)

    program = (sys.executable, "-I", "-m", "brat", "status", "--json")
    told = ran(program, cwd=tmp_path, check=True)

    read = json.loads(told.stdout)
    later = [{key: convoy.pop(key) for key in LATER} for convoy in read["convoys"]]
    assert later == [LATER]
    assert holds(read, json.loads((GOLDEN / "demo-status.json").read_text()))


def test_the_pages_example_is_an_event_as_it_is_written() -> None:
    page = (Path(__file__).parents[2] / "docs/log-format.md").read_text("utf-8")
    example = page.partition("```\n")[2].partition("\n```")[0]
    fact = fact_of(example)

    assert isinstance(fact, TaskBlocked)
    assert body_of(fact, fact.sentence()) == example
    assert f"`v` is the version of the form, now {VERSION}" in " ".join(page.split())
    assert (OPEN, CLOSE) == ("[brat]", "[/brat]")
