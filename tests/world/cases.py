"""One test over many cases, where nothing but the case differs.

`pytest.mark.parametrize` makes a test of each case: set up, torn down, looked through
for secrets and reported by itself. That is worth it where a case takes a fixture, is
marked, or is dear. For a table of values, `looped` is the same table in one test.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps

from _pytest.mark import ParameterSet


def looped(*cases: object) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Run a test once for each case; the first that fails is named.

    Args:
        cases: the test's first argument each, or a tuple of its first arguments.
    """
    assert cases, "no case at all"
    rows = [_values(case) for case in cases]
    assert len({len(row) for row in rows}) == 1, "rows of different lengths"

    def decorate(test: Callable[..., object]) -> Callable[..., object]:
        signature = inspect.signature(test)
        left = [*signature.parameters.values()]
        names = [each.name for each in left[: len(rows[0])]]
        table = [dict(zip(names, row, strict=True)) for row in rows]

        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def each_awaited(**fixtures: object) -> None:
                for case in table:
                    with _named(case):
                        await test(**fixtures, **case)

            run: Callable[..., object] = each_awaited
        else:

            @wraps(test)
            def each(**fixtures: object) -> None:
                for case in table:
                    with _named(case):
                        test(**fixtures, **case)

            run = each
        vars(run)["__signature__"] = signature.replace(parameters=left[len(names) :])
        return run

    return decorate


def _values(case: object) -> tuple[object, ...]:
    if isinstance(case, ParameterSet):
        return (*case.values,)
    return case if type(case) is tuple else (case,)


@contextmanager
def _named(case: Mapping[str, object]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"the case: {case!r}")
        raise
