"""The Node.js that clients run on."""

import os
import subprocess

import pytest

from tests.engines.install import NODE
from tests.world.tools import where_is


@pytest.fixture(scope="session")
def node() -> str:
    """Return Node.js; one that is too old is as good as none."""
    found = where_is("node") or ""
    asked = [found, "--print", "process.versions.node"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    if int(said.partition(".")[0]) < NODE:
        why = f"needs Node.js {NODE}, and {found} is {said.strip()}"
        if os.environ.get("BRAT_STRICT", "0") not in {"", "0"}:
            pytest.fail(f"{why}: make engines-install brings one", pytrace=False)
        pytest.skip(why)
    return found
