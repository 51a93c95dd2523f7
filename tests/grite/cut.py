"""Dying between two steps of a writer: before or after one git command or ref move."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grite import git
from grite.wal import Log


class Died(BaseException):
    """The process is dead: nothing may catch this."""


@contextmanager
def dying(at: int, how: Callable[[], None]) -> Iterator[list[str]]:
    """Call `how` around the step of that number, from 0: even before, odd after it.

    Gives the names of the steps that were begun.
    """
    steps: list[str] = []

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **given: Any) -> Any:  # noqa: ANN401  as the real one
            number = len(steps)
            steps.append(name)
            if at == 2 * number:
                how()
            done = real(*args, **given)
            if at == 2 * number + 1:
                how()
            return done

        return step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(git, "run", watched("git", git.run))
        patch.setattr(Log, "write", watched("write", Log.write))
        patch.setattr(Log, "set_head", watched("set_head", Log.set_head))
        yield steps
