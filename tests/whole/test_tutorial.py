"""The commands of docs/tutorial.md, typed; those of other pages, known to be."""

import re
from pathlib import Path

import pytest
from msgspec import json

from tests.world.readme import README, WITH_BOT, WITHOUT_SERVER, commands
from tests.world.terminal import Said, left_running, new_terminal

DOCS = README.parent / "docs"


def typed(page: str, section: str = "") -> list[str]:
    text = (DOCS / page).read_text("utf-8")
    if section:
        (text,) = re.findall(rf"(?ms)^## {re.escape(section)}\n(.*?)(?=^## )", text)
    return re.findall(r"(?ms)^```sh\n(.*?)^```", text)


def lines(page: str, section: str = "") -> list[str]:
    return [line for block in typed(page, section) for line in block.splitlines()]


@pytest.mark.timeout(300)
def test_the_tutorial_goes_to_its_end(tmp_path: Path) -> None:
    terminal = new_terminal(tmp_path)
    terminal.write({"../tutorial.sh": "set -eu\n" + "".join(typed("tutorial.md"))})

    said: Said = terminal.type("bash ../tutorial.sh")

    assert said.status == 0, said.err
    assert "greet-everybody-4, task 3: Count the greetings" in said.out
    project = terminal.cwd / "words"
    forge = next(project.glob(".git/brat/forge/repos/*/words.git"))
    landed = terminal.done(f"git --git-dir={forge} ls-tree -r --name-only main")
    assert {f"said/task-{n}.txt" for n in (1, 2, 3)} <= set(landed.splitlines())
    assert (project / ".git/brat/report-greet-everybody-4.html").is_file()
    assert left_running(tmp_path) == []
    convoys = json.decode(terminal.done(f"sh -c 'cd {project} && brat status --json'"))
    assert [convoy["state"] for convoy in convoys["convoys"]] == ["complete"] * 2


@pytest.mark.layer("landing")
def test_the_first_five_minutes_are_the_readmes() -> None:
    known = re.findall(r"(?m)^\$ (.+?)(?: +#.*)?$", README.read_text("utf-8"))

    assert [line for line in lines("start.md") if line not in known] == []


@pytest.mark.layer("landing")
def test_the_way_on_github_is_the_readmes() -> None:
    assert commands(WITHOUT_SERVER) == commands(README, "On GitHub")


@pytest.mark.layer("landing")
def test_the_way_on_this_machine_is_typed_by_tests() -> None:
    assert lines("local.md") == ["brat init", "brat up"]


@pytest.mark.layer("landing")
@pytest.mark.parametrize("page", [WITHOUT_SERVER, WITH_BOT])
def test_it_takes_three_commands_to_the_first_convoy(page: Path) -> None:
    typed_there = commands(page)

    assert 1 <= len(typed_there) <= 3
    assert any(re.match("brat (init --|setup$)", line) for line in typed_there)
