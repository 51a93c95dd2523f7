"""Which agent the demo is played with, and what is said when it cannot be."""

import tomllib
from pathlib import Path

import pytest

from brat import demo
from brat.demo import Sample, write_sample
from convoy.config import load
from convoy.model.records import EngineSpec
from grite import git
from grite.errors import BratError
from runner.engines import ENGINES
from tests.world.cases import looped


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return folder


def install(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_the_demo_has_every_engine_of_the_runner() -> None:
    assert {"shell", *demo.CLIS} == ENGINES.keys()


@looped(
    ("codex", "gpt-5", "^codex is not installed: run `npm install -g @openai/codex`, "),
    ("claude", None, "no engine 'claude'.*did you mean claude-code"),
    ("opencode", None, "--engine requires --model, such as --model "),
    ("shell", "gpt-5", "--model requires --engine"),
)
def test_an_engine_that_cannot_play_is_refused_with_what_mends_it(
    name: str, model: str | None, why: str, programs: Path
) -> None:
    install(programs, "opencode")

    with pytest.raises(BratError, match=why):
        demo.chosen(name, model)


def test_a_real_model_needs_its_key(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, "codex")
    with pytest.raises(BratError, match="OPENAI_API_KEY"):
        demo.chosen("codex", "gpt-5")

    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    found = demo.chosen("codex", "gpt-5")

    assert found == EngineSpec(type="codex", model="gpt-5")


def test_the_project_asks_for_it_and_holds_no_answers(tmp_path: Path) -> None:
    made = demo.write_sample(tmp_path, EngineSpec(type="codex", model='gpt "5"'))

    text = (tmp_path / ".brat/config.toml").read_text()
    engines = load(text, source="config.toml").settings().engines
    named = {(each.type, each.model, tuple(each.args)) for each in engines.values()}
    assert named == {("codex", 'gpt "5"', ())}
    assert tomllib.loads(text)["ci"]["command"] == made.ci_command
    assert [file.name for file in (tmp_path / ".brat").iterdir()] == ["config.toml"]


# --- the project: the same commit each time, in a folder of its own -------------------


def said(sample: Sample, *args: str) -> str:
    return git.run(args, cwd=sample.path).stdout.decode().strip()


def test_writing_it_twice_gives_the_same_commit(tmp_path: Path) -> None:
    sample, again = write_sample(tmp_path / "project"), write_sample(tmp_path / "again")

    assert said(again, "rev-parse", "main") == said(sample, "rev-parse", "main")
    assert said(sample, "log", "--format=%an %at %ct") == (
        "brat demo 1767225600 1767225600"
    )
    assert said(sample, "status", "--porcelain", "--ignored") == ""


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(FileExistsError, match="choose an empty or new folder"):
        write_sample(tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
