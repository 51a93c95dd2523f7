"""What a plan may cost, before it starts: by earlier attempts, else by a price. Pure.

It is a help for people and holds nothing up: each task is taken for one attempt.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from convoy.events import EngineSpec, Estimate, TaskSpec, Usage
from convoy.state import Convoy, State
from convoy.usage import priced

GUESSED: Final = Usage(
    input_tokens=100_000, cached_tokens=400_000, output_tokens=15_000
)
"""What one attempt may use where nothing is known of its engine: a guess."""


def estimate(
    state: State, convoy: Convoy, tasks: Iterable[TaskSpec]
) -> Estimate | None:
    """Return what these tasks may cost; None: no price of any is known.

    Tasks of an engine whose price is not known count nothing.
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
    """Give the money and the attempts of each task that such an engine has worked on.

    Only those whose price is known and whose sessions have all ended.
    """
    for convoy in state.convoys.values():
        for task in convoy.tasks:
            spec = convoy.settings.engines.get(task.spec.engine)
            is_known = task.used.usd > 0 and not task.used.unpriced_tokens
            is_same = spec and (spec.type, spec.model) == (engine.type, engine.model)
            if is_same and is_known and task.started and task.attempt is None:
                yield task.used.usd, task.started
