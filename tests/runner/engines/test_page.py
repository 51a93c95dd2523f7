"""The plugin that docs/engines.md shows is one."""

import shutil
from pathlib import Path

import pytest

from convoy.model.records import EngineSpec
from tests.runner.job import Forge, git
from tests.world.cases import looped
from tests.world.plugin import installed, length


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return installed(tmp_path, "docs/engines.md")


@looped(("notes", "NOTES.md", "kept the prompt"), ("greeter", "GREETING.md", ""))
def test_the_pages_plugin_does_a_task(
    kind: str, file: str, summary: str, forge: Forge, python: Path
) -> None:
    assert length("docs/engines.md") <= 30
    spec = EngineSpec(type=f"plugin:{kind}", timeout_s=600)
    log = forge.hand_off(forge.started(engine=spec))
    left = forge.run_on((), forge.environment(log), python)

    assert (left.status, left.err) == (0, "")
    assert (left.result["status"], left.result["summary"]) == ("done", summary)
    clone = forge.unpacked(left)
    assert "Greet the world" in git("show", f"work:{file}", cwd=clone)
    for each in (clone, left.folder):
        shutil.rmtree(each)
