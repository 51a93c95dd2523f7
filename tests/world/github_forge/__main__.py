"""`python -I -m tests.world.github_forge --dir DIR`: the forge with all of GitHub.

`--extend` names less of it; `--executor`, as a JSON list, what starts runs; `--record`
the file for all exchanges.
"""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from msgspec import json

from brat.forge.__main__ import main
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.world import traffic
from tests.world.github_forge import extension, rest_secrets


def told() -> argparse.Namespace:
    """Read our own options, and leave the forge's."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--executor", default="[]")
    parser.add_argument("--extend", default="github")
    parser.add_argument("--record", type=Path)
    found, sys.argv[1:] = parser.parse_known_args()
    return found


OPTIONS = told()


def extended(service: Service) -> Extension:
    """Add to a served forge what the options say."""
    words = json.decode(OPTIONS.executor, type=tuple[str, ...])
    service.starter.how = replace(service.starter.how, executor=words)
    extend: traffic.Extend = getattr(extension, OPTIONS.extend)
    if OPTIONS.record is not None:
        extend = traffic.recorded(OPTIONS.record, extend)
    return extend(service)


if __name__ == "__main__":
    rest_secrets.runs = os.environ
    sys.exit(main(extended))
