"""docs/log-format.md says all that is in the log, and what it says is so."""

from pathlib import Path

import pytest

from convoy.events.task_events import TaskBlocked
from convoy.log import CLOSE, OPEN, VERSION, body_of
from convoy.log.record import fact_of
from convoy.model import ids
from grite import lease
from grite.wal import WAL_REF

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page() -> str:
    return (DOCS / "log-format.md").read_text("utf-8")


def test_every_ref_is_on_the_page(page: str) -> None:
    heads = "refs/heads/"
    attempt = ids.attempt_ref("<convoy>", 0, 0).replace("/0/0", "/<task>/<attempt>")
    task = ids.task_branch("<convoy>", 0).replace("task-0", "task-<task>")

    for ref in (
        *(WAL_REF, lease.LOCKS + "<16 hex>", attempt, heads + task),
        heads + ids.base_branch("<convoy>"),
        heads + ids.queue_branch("<branch>", "<commit>"),
    ):
        assert f"| `{ref}` |" in page


def test_the_example_is_an_event_as_it_is_written(page: str) -> None:
    example = page.partition("```\n")[2].partition("\n```")[0]
    fact = fact_of(example)

    assert isinstance(fact, TaskBlocked)
    assert body_of(fact, fact.sentence()) == example
    assert f"`v` is the version of the form, now {VERSION}" in " ".join(page.split())
    assert (OPEN, CLOSE) == ("[brat]", "[/brat]")
