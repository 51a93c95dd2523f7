"""One test over many cases, where nothing but the case differs.

`pytest.mark.parametrize` makes a test of each case: set up, torn down, looked through
for secrets and reported by itself. That is worth it where a case takes a fixture, is
marked, or is dear. For a table of values, `looped` is the same table in one test.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps

from _pytest.mark import ParameterSet


def looped(
    names: str | tuple[str, ...],
    cases: Iterable[object],
    ids: object = None,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Run a test once for each case, as arguments; the first that fails is named.

    Args:
        names: of the arguments, as `pytest.mark.parametrize` takes them.
        cases: a value each, or a tuple where there are several names.
        ids: of no use here.
    """
    split = [*map(str.strip, names.split(","))] if isinstance(names, str) else [*names]
    table = [*_table(split, cases)]
    assert table, "no case at all"

    def decorate(test: Callable[..., object]) -> Callable[..., object]:
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
        signature = inspect.signature(test)
        left = [
            each for name, each in signature.parameters.items() if name not in split
        ]
        vars(run)["__signature__"] = signature.replace(parameters=left)
        return run

    return decorate


def _table(names: list[str], cases: Iterable[object]) -> Iterator[Mapping[str, object]]:
    for case in cases:
        values = case.values if isinstance(case, ParameterSet) else case
        if len(names) == 1 and not isinstance(case, ParameterSet):
            values = (case,)
        assert isinstance(values, tuple | list), f"{case!r} is no tuple of {names}"
        yield dict(zip(names, values, strict=True))


@contextmanager
def _named(case: Mapping[str, object]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"the case: {case!r}")
        raise
