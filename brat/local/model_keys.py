"""The terminal's variables that a local run gets, as it would get a forge's secrets.

Only variables that the engines or the configuration name are passed on, and the forge
writes none of them to disk.
"""

import os
from typing import Final

from convoy.config import Config
from runner import engines

STAND_IN: Final = "BRAT_MODEL_URL"


def model_keys(config: Config) -> dict[str, str]:
    """Return the values of those variables that are set, by name."""
    named = {engine.secret for engine in config.engine.values() if engine.secret}
    wanted = sorted({*engines.key_names(), *named, STAND_IN})
    have = os.environ  # noqa: TID251  a person's own terminal is their settings
    return {name: have[name] for name in wanted if have.get(name)}
