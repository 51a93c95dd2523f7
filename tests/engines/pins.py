"""Which version of each CLI is pinned here."""

import json
from collections.abc import Mapping

from runner.engines.pinned_program import NPM, PINS


def pinned_versions() -> Mapping[str, str]:
    npm = json.loads((PINS / "package.json").read_text("utf-8"))
    wanted = npm["dependencies"] | npm["optionalDependencies"]
    asked = (PINS / "aider/requirements.in").read_text("utf-8").strip()
    of_npm = {name: wanted[package] for name, (package, _) in NPM.items()}
    return {"aider": asked.partition("==")[2], **of_npm}
