"""Each write of a convoy is refused in turn: the others land, and it is done later."""

import asyncio
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from tests.whole.refused_story import JUMPS, MINUTE_MS, SAID, End, Minds, Tale, tale
from tests.world.layers import sampled

STATUSES: Final = (403, 404, 410, 422)
WRITES: Final = (
    "DELETE issues/N/labels/brat",
    "DELETE issues/N/labels/brat:active",
    "PATCH check-runs/N",
    "PATCH issues/N",
    "PATCH issues/comments/N",
    "POST actions/workflows/brat-task.yml/dispatches",
    "POST check-runs",
    "POST issues/N/comments",
    "POST issues/N/labels",
    "POST pulls",
)
"""Every shape of a write; a test below holds that there is no other."""
UNSAID: Final = "POST issues/N/comments"
"""Nothing can be said where nothing may be said."""
NO_REFUSAL: Final = {
    ("DELETE issues/N/labels/brat", 404),
    ("DELETE issues/N/labels/brat:active", 404),
    ("POST check-runs", 403),
}
"""What is to be deleted and is not there is deleted; a bot that may not make check runs
shows statuses."""
VIEWS: Final = 4
"""What labels, or a check, show one after the other; each is tried once."""
FIRST: Final = "do-this-1"
OTHER: Final = "do-that-2"
REFS: Final = {
    "base": f"refs/heads/convoy/{FIRST}/base",
    "task": f"refs/heads/convoy/{FIRST}/task-1",
    "queue": f"refs/heads/brat/queue/convoy--{FIRST}--base/*",
    "target": "refs/heads/main",
}
SHARED: Final = {"target"}
LANDED: Final = {name: 0 if name == "target" else 1 for name in REFS}
"""How many convoys land meanwhile: the target is every convoy's."""
WORST: Final = 8
"""How many pushes a minute may be refused where no ref is named: 6, and what is under
way."""
LANDING: Final = {
    ("POST pulls", 422),
    ("POST actions/workflows/brat-task.yml/dispatches", 404),
}
"""What CI looks at on each change."""
ROUND: Final = {(shape, STATUSES[n % 4]) for n, shape in enumerate(WRITES)}
"""Each write once and each status: what a status means, tests/bot/forge holds."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[End, set[str]]:
    async def play() -> tuple[End, set[str]]:
        minds = Minds()
        async with tale(tmp_path_factory.mktemp("calm"), minds) as told:
            await told.play(JUMPS, until_over=True)
            return told.end(), minds.met

    return asyncio.run(play())


@pytest.mark.layer("landing")
def test_undisturbed_both_convoys_land(calm: tuple[End, set[str]]) -> None:
    end, met = calm

    assert met == {*WRITES}
    assert end.convoys == {
        FIRST: ("complete", "merged 1"),
        OTHER: ("complete", "merged 1"),
    }
    assert (end.pulls, end.merged_pulls, end.runs, end.shown) == (4, 4, 2, 2)
    assert end.queue_branches == 0


async def lifted(told: Tale, lift: Callable[[], object], calm: End) -> None:
    """Lift the refusal: everything ends as without it."""
    lift()
    await told.play(5 * JUMPS, until_over=True)
    assert told.named() == []
    assert told.end() == calm


@pytest.mark.parametrize(
    ("shape", "status"), sampled(sorted(ROUND | NO_REFUSAL | LANDING), LANDING)
)
async def test_a_write_that_is_refused_keeps_nothing_else_waiting(
    shape: str, status: int, tmp_path: Path, calm: tuple[End, set[str]]
) -> None:
    minds = Minds(shape=shape, status=status)
    async with tale(tmp_path, minds) as told:
        await told.play(JUMPS, until_over=False)

        assert minds.poisoned, "it was never written"
        assert told.complete, "the other convoy has to land"
        if (shape, status) in NO_REFUSAL:
            assert len(minds.tries) <= VIEWS
        else:
            tries = zip(minds.tries, minds.tries[1:], strict=False)
            assert all(later - early >= MINUTE_MS for early, later in tries), (
                minds.tries
            )
            assert told.named(), "nobody is told what is refused"
            assert told.said() or shape == UNSAID, "its issue does not tell"
        await lifted(told, minds.lift, calm[0])


@pytest.mark.parametrize(
    ("what", "named"), sampled(product(REFS, (True, False)), {("task", True)})
)
async def test_a_ref_that_is_refused_keeps_nothing_else_waiting(
    what: str, *, named: bool, tmp_path: Path, calm: tuple[End, set[str]]
) -> None:
    pushes = tmp_path / "pushes"
    async with tale(tmp_path / "tale", Minds()) as told:
        hook = told.hook(*refusing(REFS[what], pushes, named=named))
        await told.play(JUMPS, until_over=False)

        assert len(told.complete) == LANDED[what]
        assert what in SHARED or told.complete == [OTHER]
        tries, minutes = len(pushes.read_text().splitlines()), told.jumps + 1
        refs = 2 if what in SHARED else 1
        assert tries <= minutes * (refs if named else WORST)
        why = told.named()
        assert why, "nobody is told what is refused"
        assert all(SAID in each for each in why)
        assert told.said(), "no issue tells what is refused"
        await lifted(told, hook.unlink, calm[0])


def refusing(pattern: str, pushes: Path, *, named: bool) -> tuple[str, str]:
    """Return the hook, and its script, that refuses a ref and notes each try."""
    said = f"{{ echo {SAID}; echo >>{pushes}; exit 1; }}"
    if named:
        return "update", f"case $1 in {pattern}) {said};; esac"
    cases = f"case $ref in {pattern}) {said};; esac"
    return "pre-receive", f"while read -r old new ref; do {cases}; done"
