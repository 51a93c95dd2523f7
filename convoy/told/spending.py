"""What a convoy's sessions used, and how people are told."""

from functools import reduce
from typing import Final

from convoy.events import Usage
from convoy.state import Convoy, Task
from convoy.usage import plus, tokens

_DIME: Final = 0.1


def spenders(convoy: Convoy) -> tuple[Task, ...]:
    """Return all that sessions worked on: the tasks and, as task 0, the plan."""
    return (*((convoy.mayor,) if convoy.mayor else ()), *convoy.tasks)


def used(convoy: Convoy) -> Usage:
    """Return what the convoy's sessions used that have ended, also to plan it."""
    return reduce(plus, (task.used for task in spenders(convoy)), Usage())


def spoken(usage: Usage) -> str:
    """Return tokens and money in a few words; empty when nothing is known."""
    if not tokens(usage) and not usage.usd:
        return ""
    came = usage.input_tokens + usage.cached_tokens
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    said = f"{came:,} tokens in{cached}, {usage.output_tokens:,} out"
    return f"{said}, {_money(usage)}"


def foreseen(convoy: Convoy) -> str:
    """Return what the plan was thought to cost, in a few words; empty: nothing was."""
    found = convoy.estimate
    if found is None:
        return ""
    by = (
        f"by {found.attempts} earlier attempts of the same engines"
        if found.attempts
        else "a guess by the price of its engines"
    )
    return f"about {dollars(found.usd)} if each task takes one attempt ({by})"


def _money(usage: Usage) -> str:
    if not usage.unpriced_tokens:
        return dollars(usage.usd)
    if not usage.usd:
        return "price not known"
    return f"{dollars(usage.usd)} and {usage.unpriced_tokens:,} tokens without a price"


def dollars(usd: float) -> str:
    """Return cents, and of less than a dime also their hundredths."""
    return f"${usd:,.4f}" if 0 < usd < _DIME else f"${usd:,.2f}"
