"""What a convoy's sessions used, and the words people are told it in."""

from typing import Final

from convoy.model.records import Estimate, Usage
from convoy.model.usage import tokens

_DIME: Final = 0.1


def spoken(usage: Usage) -> str:
    """Return tokens and money in a few words; empty when neither is known."""
    if not tokens(usage) and not usage.usd:
        return ""
    came = usage.input_tokens + usage.cached_tokens
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    said = f"{came:,} tokens in{cached}, {usage.output_tokens:,} out"
    return f"{said}, {_money(usage)}"


def foreseen(found: Estimate | None) -> str:
    """Return the plan's estimated cost in a few words; empty: there is none."""
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
    """Return dollars and cents, and below a dime hundredths of a cent too."""
    return f"${usd:,.4f}" if 0 < usd < _DIME else f"${usd:,.2f}"
