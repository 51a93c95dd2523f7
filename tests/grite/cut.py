"""Dying between two steps of a writer: before or after one git command or ref move."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from grite import git
from grite.wal import Log


class Died(BaseException):
    """The process is dead: nothing may catch this."""


STEPS: tuple[tuple[object, str], ...] = (
    (git, "run"),
    (Log, "write"),
)


@contextmanager
def dying(
    at: int, how: Callable[[], None], places: Sequence[tuple[object, str]] = STEPS
) -> Iterator[list[str]]:
    """Call `how` around the step of that number, from 0: even before, odd after it.

    A step is a call of one of the functions in `places`. Gives the names of those that
    were begun.
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
        for owner, name in places:
            patch.setattr(owner, name, watched(name, getattr(owner, name)))
        yield steps
