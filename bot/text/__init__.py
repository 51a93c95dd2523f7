"""What readers see of strangers' Markdown, and what the bot says on the forge. Pure.

What it says in fixed words stands in `phrases.toml`, to be read as a whole.
"""

from pathlib import Path
from typing import Final

from msgspec import toml

PHRASES: Final = toml.decode(
    Path(__file__).with_name("phrases.toml").read_bytes(), type=dict[str, str]
)


def phrase(name: str, **given: object) -> str:
    """Return a phrase with what is given in its places."""
    return PHRASES[name].format(**given)
