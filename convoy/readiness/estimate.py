"""What a plan may cost, before it starts: from earlier attempts, else from prices.

It only informs people and delays nothing; it assumes one attempt for each task.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from convoy.model.records import EngineSpec, Estimate, TaskSpec, Usage
from convoy.model.state import Convoy, State
from convoy.model.usage import priced

GUESSED: Final = Usage(
    input_tokens=100_000, cached_tokens=400_000, output_tokens=15_000
)
"""A guess at what one attempt uses if nothing is known about its engine."""


def estimate(
    state: State, convoy: Convoy, tasks: Iterable[TaskSpec]
) -> Estimate | None:
    """Return what these tasks may cost; None: no price is known.

    Tasks of an engine without a known price count nothing.
    """
    usd, attempts, is_known = 0.0, 0, False
    engines = convoy.settings.engines
    for task in tasks:
        engine = engines[task.engine]
        spent = tuple(_spent(state, engine))
        if spent:
            usd += sum(each for each, _ in spent) / sum(tries for _, tries in spent)
            attempts = max(attempts, sum(tries for _, tries in spent))
        elif engine.price:
            usd += priced(GUESSED, None, engine.price).usd
        is_known = is_known or bool(spent) or engine.price is not None
    return Estimate(usd=round(usd, 2), attempts=attempts) if is_known else None


def _spent(state: State, engine: EngineSpec) -> Iterator[tuple[float, int]]:
    """Yield the cost and the attempts of each task that such an engine has worked on.

    Only tasks whose price is known and whose sessions have all ended.
    """
    for convoy in state.convoys.values():
        for task in convoy.tasks:
            spec = convoy.settings.engines.get(task.spec.engine)
            is_known = task.used.usd > 0 and not task.used.unpriced_tokens
            is_same = spec and (spec.type, spec.model) == (engine.type, engine.model)
            if is_same and is_known and task.started and task.attempt is None:
                yield task.used.usd, task.started
