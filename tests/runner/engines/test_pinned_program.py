"""A job of a forge that has no engine gets it, at the version that is pinned."""

import os

import pytest
from msgspec.structs import replace

from convoy.model.records import EngineSpec
from runner.engines.pinned_program import NPM, npm_lock
from tests.runner.engines.test_outcomes import KEY, WORK, said
from tests.runner.job import Forge, Left

pytestmark = pytest.mark.layer("landing")

CLAUDE = EngineSpec(type="claude-code", timeout_s=600)
AT = "node_modules/@anthropic-ai/claude-code-linux-x64"
# Stands in for the registry: it writes what npm would, once the lock is there.
SCRIPT = """\
#!/bin/sh
set -eu
test "$1" = ci
test -z "${{ANTHROPIC_API_KEY:-}}${{BRAT_TOKEN:-}}"
grep -q '"integrity"' package-lock.json
echo "$npm_config_registry" >> {calls}
{then}
"""
FAKE = f"""\
mkdir -p {AT}
cat > {AT}/claude <<'END'
#!/bin/sh
{WORK}; {said("claude-ok")}
END
chmod +x {AT}/claude
"""


def job(forge: Forge, then: str = FAKE, **more: str) -> Left:
    """Run a job of a forge, on a machine whose only further program is npm."""
    path = forge.program(SCRIPT.format(calls=forge.root / "calls", then=then), "npm")
    keys = {"ANTHROPIC_API_KEY": KEY, "npm_config_registry": "made-up-registry"}
    asked = forge.started(engine=CLAUDE)
    return forge.run(asked, PATH=path, GITHUB_ACTIONS="true", **keys, **more)


def test_it_is_installed_once_where_the_machine_keeps_tools(forge: Forge) -> None:
    kept = forge.root / "runner/_work/_tool"
    kept.mkdir(parents=True)

    for turn in range(2):
        left = job(forge, RUNNER_TOOL_CACHE=str(kept))
        assert left.result["conclusion"] == "success", left.out + left.err
        left.folder.rename(forge.root / f"result-{turn}")

    assert (forge.root / "calls").read_text() == "made-up-registry\n"
    (folder,) = kept.glob("brat-engines/claude-code-*/bin")
    assert os.access(folder / "claude", os.X_OK)


def test_a_machine_that_keeps_nothing_has_it_for_the_job(forge: Forge) -> None:
    """What could not be installed is said, and not taken for whole."""
    left = job(forge, then="echo E404 >&2; exit 1")

    assert left.result["conclusion"] == "failure"
    assert "::notice title=brat::The engine could not be installed: E404" in left.out
    assert not list((forge.root / "temp").glob("brat-engines/*/whole"))
    left.folder.rename(forge.root / "before")
    left = job(forge)
    assert left.result["conclusion"] == "success", left.out + left.err
    assert list((forge.root / "temp").glob("brat-engines/*/whole"))


def test_a_person_s_machine_installs_nothing(forge: Forge) -> None:
    replaced = replace(CLAUDE, type="codex")

    left = forge.run(forge.started(engine=replaced), OPENAI_API_KEY=KEY)

    assert (left.result["outcome"], left.result["conclusion"]) == (
        *("unstarted", "failure"),
    )
    assert left.result["why"] == "Cannot start 'codex': No such file or directory."
    assert not (forge.root / "temp/brat-engines").exists()


@pytest.mark.parametrize("kind", NPM)
def test_an_engines_lock_holds_all_that_it_needs_and_no_more(kind: str) -> None:
    lock = npm_lock(kind)
    packages = lock["packages"]
    (package,) = packages[""]["dependencies"]

    assert packages[f"node_modules/{package}"]["version"]
    assert not [path for path in packages if "/node_modules/" in path]
    assert all(each["integrity"] for path, each in packages.items() if path)
    others = {other for other, _ in NPM.values()} - {package}
    assert others.isdisjoint(path.removeprefix("node_modules/") for path in packages)
