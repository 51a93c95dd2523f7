"""`brat init --actions`: the files that a repository without a server needs."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brat.repository import workflow_files
from brat.repository.checkout import find
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.layer("landing")

ROOT = Path(__file__).parents[2]
CI = 'name: "Tests, all"\non: push\n'
NIGHTLY = "name: nightly # long\non: push\n"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return project(tmp_path, engine("true"))


def written(terminal: Terminal, name: str) -> str:
    return (terminal.cwd / ".github/workflows" / name).read_text()


def test_it_writes_this_versions_files_and_says_what_comes_next(
    terminal: Terminal,
) -> None:
    said = terminal.type("brat init --actions")

    assert said.status == 0, said.err
    assert written(terminal, "brat.yml") == (ROOT / "workflows/brat.yml").read_text()
    assert "replace OWNER and COMMIT in .github/workflows" in said.err
    assert said.lines[-1].startswith("next: git add .github/workflows && git commit")
    assert not (terminal.cwd / ".git/brat").exists()

    assert terminal.type("brat doctor").status == 0
    terminal.write({".github/workflows/nightly.yml": NIGHTLY})
    looked = terminal.type("brat doctor").err
    assert "note  the log has no signing key" in looked
    assert "brat.yml is not triggered by the workflow nightly" in looked


def test_a_bot_of_ones_own_needs_no_loop_in_the_repository(terminal: Terminal) -> None:
    said = terminal.type("brat init --hosted")

    assert said.status == 0, said.err
    folder = terminal.cwd / ".github/workflows"
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["brat-task-live.yml", "brat-task.yml"]
    for name in names:
        assert written(terminal, name) == (ROOT / "workflows" / name).read_text()
    (folder / "brat-task.yml").unlink()  # one is enough
    looked = terminal.type("brat doctor")
    assert "brat-task-live.yml matches this version" in looked.err
    assert "brat.yml" not in looked.err


def test_enterprise_server_gets_copies_of_what_github_com_calls(
    terminal: Terminal,
) -> None:
    terminal.done("git remote add origin git@git.example.test:ann/app.git")

    terminal.done("brat init --actions")

    uploads = re.findall("upload-artifact@.*", written(terminal, "brat-task.yml"))
    assert [each.partition("# ")[2] for each in uploads] == ["v3.2.1-node20"]
    assert "uses: ./.github/workflows/brat-jobs.yml" in written(terminal, "brat.yml")
    jobs = YAML(typ="safe").load(written(terminal, "brat-jobs.yml"))["jobs"]
    assert jobs["loop"]["environment"] == "brat"
    looked = terminal.type("brat doctor").err
    for name in ("brat.yml", "brat-jobs.yml", "brat-task.yml", "brat-wake.yml"):
        assert f"{name} matches this version" in looked


def test_jobs_take_the_commit_that_this_brat_was_installed_from(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = workflow_files.Pin("https://github.com/ann/brat", "c0ffee" * 6 + "abcd")
    monkeypatch.setattr(workflow_files, "installed_from", lambda: pin)

    text = workflow_files.proposed(find(terminal.cwd), "brat.yml")

    called = f"uses: ann/brat/.github/workflows/brat-jobs.yml@{pin.commit}\n"
    assert called in text
    assert f"source: {pin.source}\n      commit: {pin.commit}\n" in text
    assert workflow_files.is_ours("brat.yml", text)


def test_it_waits_for_the_repositorys_own_workflows_and_leaves_what_people_change(
    terminal: Terminal,
) -> None:
    """One whose name YAML would read otherwise is left out."""
    own = {"ci.yml": CI, "nightly.yml": NIGHTLY, "unnamed.yaml": "on: push\n"}
    terminal.write({f".github/workflows/{name}": text for name, text in own.items()})

    terminal.done("brat init --actions")

    line = '    workflows: ["nightly", ".github/workflows/unnamed.yaml"] # the name of'
    assert line in written(terminal, "brat.yml")

    terminal.write({".github/workflows/brat.yml": "name: mine\n"})
    again = terminal.type("brat init --actions")
    assert again.status == 1
    assert written(terminal, "brat.yml") == "name: mine\n"
    differs = "brat.yml differs from this version's file and is left unchanged"
    assert differs in again.err
