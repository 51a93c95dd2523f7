"""The errors that documents show, as brat says them."""

from convoy.config import ConfigError, load
from convoy.patterns import PatternError, template

_CONFIG = 'engine.tests.type = "aidr"\nrefinery.stratgy = "squash"'
_PATTERN = "steps:\n  - id: a\n    titel: b\n    title: b\n    body: c\n"


def configuration() -> str:
    try:
        load(_CONFIG, source=".brat/config.toml")
    except ConfigError as error:
        return _block(str(error))
    raise AssertionError("the sample has no fault")


def pattern() -> str:
    try:
        template(_PATTERN, "mine", ".brat/workflows/mine.yml")
    except PatternError as error:
        return _block(str(error))
    raise AssertionError("the sample has no fault")


def _block(text: str) -> str:
    return f"```\n{text}\n```\n"
