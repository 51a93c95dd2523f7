"""A planner that is a plugin, as a job runs it: docs/planning.md shows one."""

import json
from pathlib import Path

import msgspec
import pytest

from convoy.events.session_events import TaskStarted
from convoy.model.records import EngineSpec
from convoy.planner import Asked, Survey
from tests.runner.job import TOKEN, Forge, Left
from tests.world.plugin import blocks, installed, length

pytestmark = pytest.mark.layer("landing")

PAGE = "docs/planning.md"
SURVEY = Survey(files=3, folders=(("src/", 1),), languages=())
RAISES = "\n\ndef task(asked, name):\n    raise KeyError('no\\nidea')\n"
NO_PLAN = "\n\ndef plan(asked):\n    return object()\n"
PRIES = """

def plan(asked):
    import os, pathlib
    seen = [f"{k}={v}" for k, v in os.environ.items()]
    for each in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            seen += each.read_text(errors="replace").split("\\0")
        except OSError:
            pass
    print(*seen, sep="\\n")
    return {"tasks": [], "faults": asked.faults, "text": asked.text}
"""


def planning(forge: Forge, name: str = "by-folder") -> TaskStarted:
    told = Asked(limit=5, engines={"default": "(shell)."}, survey=SURVEY)
    return forge.started(
        kind="plan",
        brief=msgspec.json.encode(told).decode(),
        notes=("It was no plan.",),
        engine=EngineSpec(type=f"planner:{name}", timeout_s=600),
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("plugin"), PAGE)


def left(forge: Forge, python: Path, code: str = "", **keys: str) -> Left:
    """Run the page's planner, with this code after its own."""
    (module,) = python.parents[1].glob("lib/*/site-packages/brat_by_folder.py")
    module.write_text(blocks(PAGE)["brat_by_folder.py"] + code)
    log = forge.hand_off(planning(forge))
    return forge.run_on((), forge.environment(log, **keys), python)


def test_the_pages_planner_answers_with_a_plan(forge: Forge, python: Path) -> None:
    found = left(forge, python)

    assert length(PAGE) <= 30
    assert (found.status, found.result["outcome"]) == (0, "exited")
    [task] = json.loads(found.result["report"])["tasks"]
    assert (task["title"], task["paths"]) == ("Work in src/", ["src/"])
    assert task["instructions"] == "Write greeting.txt.\n\nChange src/ only."


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (RAISES, "The engine failed: the planner by-folder raised KeyError: "),
        (NO_PLAN, "raised TypeError: Encoding objects of type object is unsupported."),
        ("\nimport nowhere\n", "raised ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_what_a_planner_does_wrong_is_told_in_a_sentence(
    forge: Forge, python: Path, code: str, said: str
) -> None:
    found = left(forge, python, code)

    assert found.result["outcome"] == "failed"
    assert said in found.result["why"]
    assert "\n" not in found.result["why"]


def test_a_planner_has_neither_token_nor_key_and_knows_its_faults(
    forge: Forge, python: Path
) -> None:
    found = left(forge, python, PRIES, OPENAI_API_KEY="sk-made-up-key-9876543210")

    answer = json.loads(found.result["report"])
    assert answer["faults"] == ["It was no plan."]
    assert answer["text"] == "Write greeting.txt."
    assert "BRAT_PROMPT=" in found.said
    for secret in (TOKEN, "sk-made-up-key-9876543210"):
        assert secret not in found.said
    assert "***" not in found.said
