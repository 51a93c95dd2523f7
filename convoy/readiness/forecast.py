"""What tasks of an engine took so far, by the log; it only informs people. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from convoy.model.records import EngineSpec, Forecast, Spread
from convoy.model.state import State, Task


def forecasts(state: State, engines: Mapping[str, EngineSpec]) -> tuple[Forecast, ...]:
    """Return what settled tasks of each engine took; nothing known: no entry.

    Earlier tasks count by their engine's type and model, with all their attempts.

    Args:
        state: what the log says.
        engines: by name, those that tasks may have.
    """
    found = ((name, [*_past(state, engine)]) for name, engine in engines.items())
    return tuple(_forecast(name, tasks) for name, tasks in sorted(found) if tasks)


def _past(state: State, engine: EngineSpec) -> Iterator[Task]:
    for convoy in state.convoys.values():
        for task in convoy.tasks:
            spec = convoy.settings.engines.get(task.spec.engine)
            is_same = spec and (spec.type, spec.model) == (engine.type, engine.model)
            if is_same and task.settled and task.worked_ms:
                yield task


def _forecast(name: str, tasks: Sequence[Task]) -> Forecast:
    seconds = [task.worked_ms / 1000 for task in tasks]
    priced = [
        task.used.usd
        for task in tasks
        if task.used.usd > 0 and not task.used.unpriced_tokens
    ]
    return Forecast(
        engine=name,
        tasks=len(tasks),
        seconds=_spread(seconds, 0),
        usd=_spread(priced, 4) if priced else None,
    )


def _spread(values: Sequence[float], digits: int) -> Spread:
    low, middle, high = min(values), median(values), max(values)
    return Spread(*(round(value, digits) for value in (low, middle, high)))
