"""Which variables of this terminal reach a local run: as a forge's secrets would.

The names are those that the engines and the configuration know; nothing else of the
environment does, and the forge keeps none of them on the disk.
"""

import os
from typing import Final

from convoy.config import Config
from runner import engines

STAND_IN: Final = "BRAT_MODEL_URL"


def model_keys(config: Config) -> dict[str, str]:
    """Return the variables that are set, by their name."""
    named = {engine.secret for engine in config.engine.values() if engine.secret}
    wanted = sorted({*engines.key_names(), *named, STAND_IN})
    have = os.environ  # noqa: TID251  a person's own terminal is their settings
    return {name: have[name] for name in wanted if have.get(name)}
