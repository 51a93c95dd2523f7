"""Convoys that end well, badly or not yet; between them every fact a bot writes."""

from collections.abc import Callable

import pytest

from convoy.commands import (
    AcceptNothing,
    AttemptMerge,
    BlockTask,
    DropTask,
    FailConvoy,
    FailMerge,
    LandMerge,
    LoseSession,
    NoteDone,
    PauseConvoy,
    RefuseWork,
    ResumeConvoy,
    RetryTask,
)
from tests.world.rules import NAME, Rules, sha, spec

Story = Callable[[], Rules]


def landed_whole() -> Rules:
    rules = Rules().planned(spec(1, paths=("a.py",)), spec(2), spec(3))
    rules.do(NoteDone(key=f"comment:{NAME}", number=5)).landed(1, sha("a"))
    rules.do(DropTask(convoy=NAME, task=2, why="not wanted")).started(3)
    return rules.do(
        AcceptNothing(convoy=NAME, task=3, attempt=1),
        NoteDone(key=f"pull:{NAME}/0", number=20),
        AttemptMerge(
            convoy=NAME, task=0, candidate=sha("a"), base=sha("0"), work=sha("a")
        ),
        LandMerge(convoy=NAME, task=0, candidate=sha("a"), judged=("ci",)),
    )


def went_wrong() -> Rules:
    rules = Rules().planned(spec(1), spec(2), spec(4, after=(2,)), attempts=2)
    rules.started(1).do(
        RefuseWork(convoy=NAME, task=1, attempt=1, cause="refused", why="a symlink")
    )
    rules.started(1).accepted(1, sha("a")).offered(1, sha("c"), sha("0"))
    rules.do(
        FailMerge(convoy=NAME, task=1, candidate=sha("c"), cause="red", why="red"),
        RetryTask(convoy=NAME, task=1, by="ann"),
        BlockTask(convoy=NAME, task=2, why="no CI"),
        PauseConvoy(convoy=NAME, by="ann"),
        ResumeConvoy(convoy=NAME, by="ann"),
    )
    return rules.started(1).do(
        LoseSession(convoy=NAME, task=1, attempt=3, cause="lost", why="it died")
    )


def given_up() -> Rules:
    return went_wrong().do(FailConvoy(convoy=NAME, why="cancelled by ann"))


STORIES = (landed_whole, went_wrong, given_up)
story = pytest.mark.parametrize("tell", STORIES)
