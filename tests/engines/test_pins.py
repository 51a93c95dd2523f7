"""What is installed is exactly what is written here, from wherever one has it."""

import json
import re

import pytest

from runner.engines.pinned_program import PINS
from tests.engines.cases import ENGINES
from tests.engines.install import HERE, pinned_versions
from tests.engines.record import kept

pytestmark = pytest.mark.layer("landing")

NPM = json.loads((PINS / "package.json").read_text())
LOCKED = json.loads((PINS / "package-lock.json").read_text())["packages"]


def test_npm_packages_are_pinned_exactly_and_locked_by_content() -> None:
    wanted = NPM["dependencies"] | NPM["optionalDependencies"]

    for name, version in wanted.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
        assert LOCKED[f"node_modules/{name}"]["version"] == version
    assert LOCKED[""]["dependencies"] == NPM["dependencies"]
    kept = [each for path, each in LOCKED.items() if path]
    assert all(each["integrity"].startswith("sha512-") for each in kept)


def test_python_packages_are_locked_as_they_are_asked_for_and_name_no_registry() -> (
    None
):
    assert not any("resolved" in each for each in LOCKED.values())
    for folder in (PINS / "aider", HERE / "node"):
        (asked,) = (folder / "requirements.in").read_text().split()
        locked = "\n" + (folder / "requirements.lock").read_text()
        assert f"\n{asked} \\\n" in locked
        assert "://" not in locked


def test_what_each_cli_sends_was_recorded_with_the_version_that_is_pinned() -> None:
    pinned = pinned_versions()
    recorded = [
        (name, version)
        for found in kept().values()
        for version, names in found["versions"].items()
        for name in names.split()
    ]

    assert pinned.keys() == ENGINES.keys() == dict(recorded).keys()
    for name, version in recorded:
        again = f"recorded with another {name}: python -m tests.engines.record {name}"
        assert version == pinned[name], again
