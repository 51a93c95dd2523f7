"""docs/engines.md says what the rows say, and its plugin is one."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from convoy.events import EngineSpec
from runner.engines.page import with_tables
from tests.runner.job import Forge, git

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/engines.md").read_text("utf-8")
PLUGIN = PAGE.partition("<!-- plugin")[2].partition("<!-- end of plugin -->")[0]


def blocks() -> dict[str, str]:
    """Return the files of the page's plugin, by the name they begin with."""
    found = re.findall(r"```\w+\n# (\S+)\n(.*?)```", PLUGIN, re.DOTALL)
    return dict(found)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return a Python that has this one's packages and the page's."""
    home = tmp_path / "venv"
    command = [sys.executable, "-m", "venv", "--without-pip", str(home)]
    subprocess.run(command, check=True)
    (site,) = (home / "lib").glob("*/site-packages")
    ours = sorted(each for each in sys.path if each.endswith("site-packages"))
    paths = "".join(f"import site; site.addsitedir({each!r})\n" for each in ours)
    (site / "ours.pth").write_text(f"{paths}{ROOT}\n")
    files = blocks()
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    for name, text in files.items():
        (site / name).write_text(text)
    facts = site / f"brat_notes-{project['version']}.dist-info"
    facts.mkdir()
    name = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\n{name}")
    points = (
        f"[{group}]\n" + "".join(f"{n} = {value}\n" for n, value in each.items())
        for group, each in project["entry-points"].items()
    )
    (facts / "entry_points.txt").write_text("".join(points))
    return home / "bin/python"


def test_the_page_is_up_to_date() -> None:
    assert with_tables(PAGE) == PAGE, "run python -m runner.engines.page docs"


def test_the_plugin_is_short() -> None:
    assert sum(text.strip().count("\n") + 2 for text in blocks().values()) <= 30


@pytest.mark.parametrize(
    ("kind", "file", "summary"),
    [("notes", "NOTES.md", "kept the prompt"), ("greeter", "GREETING.md", "")],
)
def test_the_pages_plugin_does_a_task(
    forge: Forge, python: Path, kind: str, file: str, summary: str
) -> None:
    spec = EngineSpec(type=f"plugin:{kind}", timeout_s=30)
    log = forge.hand_off(forge.started(engine=spec))
    with subprocess.Popen(
        [python, "-I", "-m", "runner"],
        env=forge.environment(log, PATH=os.environ["PATH"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as job:
        left = forge.left_by(job)

    assert (left.status, left.err) == (0, "")
    assert (left.result["status"], left.result["summary"]) == ("done", summary)
    assert "Greet the world" in git("show", f"work:{file}", cwd=forge.unpacked(left))


def test_a_plugin_that_is_not_installed_is_said(forge: Forge) -> None:
    left = forge.run(forge.started(engine=EngineSpec(type="plugin:notes")))

    assert left.result["outcome"] == "unstarted"
    assert left.result["why"].startswith("No engine is called 'plugin:notes'; known: ")
