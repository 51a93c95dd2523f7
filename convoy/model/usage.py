"""Sums of what sessions used: tokens, and money where it is known. Pure.

The figures come from engines and reach the bot as claims: they are kept in bounds here,
so that no sum is ever negative, endless or too large for the log.
"""

import math
from typing import Final

from msgspec import MsgspecError, Struct, json

from convoy.model.records import Price, Usage

TOKENS_MOST: Final = 10**12
USD_MOST: Final = 1_000_000.0
"""More than any session or convoy can use."""
_DIGITS: Final = 6
"""Decimals of a dollar: one token's cost at a dollar per million."""
_MILLION: Final = 1_000_000


def bounded(said: Usage) -> Usage:
    """Return the figures, each kept in bounds; what is not a number counts as 0."""
    return Usage(
        input_tokens=_tokens(said.input_tokens),
        cached_tokens=_tokens(said.cached_tokens),
        output_tokens=_tokens(said.output_tokens),
        unpriced_tokens=_tokens(said.unpriced_tokens),
        usd=_dollars(said.usd),
    )


def plus(one: Usage, other: Usage) -> Usage:
    """Return the sum of both, in bounds."""
    return bounded(
        Usage(
            input_tokens=one.input_tokens + other.input_tokens,
            cached_tokens=one.cached_tokens + other.cached_tokens,
            output_tokens=one.output_tokens + other.output_tokens,
            unpriced_tokens=one.unpriced_tokens + other.unpriced_tokens,
            usd=one.usd + other.usd,
        )
    )


def tokens(used: Usage) -> int:
    """Return the total number of tokens."""
    return used.input_tokens + used.cached_tokens + used.output_tokens


def priced(used: Usage, said_usd: float | None, price: Price | None) -> Usage:
    """Return one session's tokens with their cost.

    Args:
        used: the tokens.
        said_usd: what the engine says that they cost; None: it does not say.
        price: what is reckoned with then; None: they stay without a price.
    """
    used = bounded(used)
    if said_usd is None and price is None:
        return plus(used, Usage(unpriced_tokens=tokens(used)))
    return plus(used, Usage(usd=_cost(used, price) if said_usd is None else said_usd))


class _Line(Struct, frozen=True):
    """A line of usage.jsonl: what was used since the last such line."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


def noted(lines: bytes) -> tuple[Usage, float | None]:
    """Return the tokens in usage.jsonl, and the money where it names any.

    Lines that do not parse, such as a truncated last one, are left out.
    """
    total, usd = Usage(), None
    for line in lines.splitlines():
        try:
            said = json.decode(line, type=_Line)
        except MsgspecError:
            continue
        tokens_said = Usage(
            input_tokens=said.input_tokens,
            cached_tokens=said.cached_tokens,
            output_tokens=said.output_tokens,
        )
        total = plus(total, bounded(tokens_said))
        if said.usd is not None:
            usd = plus(Usage(usd=usd or 0.0), bounded(Usage(usd=said.usd))).usd
    return total, usd


def _cost(used: Usage, price: Price | None) -> float:
    if price is None:
        return 0.0
    cached = price.input if price.cached is None else price.cached
    return (
        used.input_tokens * price.input
        + used.cached_tokens * cached
        + used.output_tokens * price.output
    ) / _MILLION


def _tokens(number: int) -> int:
    return min(max(0, number), TOKENS_MOST)


def _dollars(number: float) -> float:
    if math.isnan(number):
        return 0.0
    return round(min(max(0.0, number), USD_MOST), _DIGITS)
