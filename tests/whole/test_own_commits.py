"""What a person commits and pulls while a convoy is under way."""

from pathlib import Path

import pytest

from tests.world.staying import staying, until
from tests.world.terminal import Terminal
from tests.world.words import BARE, PULL, convoy_of, engine, project, status

pytestmark = pytest.mark.timeout(300)


def holds(terminal: Terminal, commit: str) -> str:
    ask = f"git -C {BARE} branch --contains {commit} main"
    said = terminal.type(ask)
    return said.out if said.status == 0 else ""


def test_commits_beside_landed_work_go_on_top_of_it(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    terminal.done("brat init")
    with staying(terminal, "up", "--no-dashboard") as up:
        up.says("watching")
        terminal.done("brat mayor start --task 'Spell words'")
        up.says(PULL)
        terminal.write({"NOTES.md": "Meanwhile.\n", "words/count.py": "# half done\n"})
        terminal.done("git add NOTES.md")
        terminal.done("git commit --quiet --message 'Take notes'")
        own = terminal.done("git rev-parse HEAD")
        beside = up.says("because other work has landed; rebase")
        first = up.says("first commit or stash your changes: words/count.py")
        assert not holds(terminal, own)
        shown = status(terminal)
        terminal.done("git checkout -q -- words/count.py")
        _, _, line = beside.partition("with: ")
        terminal.done(line)
        top = terminal.done("git rev-parse HEAD")
        until(lambda: holds(terminal, top))

    assert line == "brat pull"
    (found,) = shown["interventions"]
    assert (found["kind"], found["commands"]) == ("commits_beside", [line])
    assert up.lines.index(first) < up.lines.index(beside)
    assert (terminal.cwd / "NOTES.md").read_text() == "Meanwhile.\n"
    assert (terminal.cwd / "words/task_1.py").exists()
    assert terminal.done("git log --merges --author=Pat --format=%H HEAD") == ""


@pytest.mark.layer("landing")
def test_what_a_person_rewrites_is_taken_until_work_has_landed(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    terminal.done("brat init")
    amend = "git commit --quiet --amend --message"
    start = "brat mayor start --headless --task"
    terminal.done(f"{amend} 'Count all words'")
    assert "other work has landed" not in terminal.type("brat status").out

    run = terminal.type(f"{start} 'Spell words'")

    assert run.status == 0, run.err
    tip = terminal.done("git rev-parse HEAD")
    said = f"picked up 1 new commit from you instead of 1 commit: {tip[:10]}"
    assert said in run.lines
    assert "other work has landed" not in run.err
    assert holds(terminal, tip)

    terminal.done(f"{amend} 'Count most words'")
    refused = terminal.type(f"{start} 'Sort words'")

    assert refused.status == 1
    assert "opened issue" not in refused.err
    line = "brat pull"
    mend = f"agents would start without your new commits: first run `{line}`"
    assert refused.lines[-1].endswith(mend)
    terminal.done(line)
    assert (terminal.cwd / "words/task_1.py").exists()


@pytest.mark.layer("landing")
@pytest.mark.parametrize("strategy", ["rebase", "squash", "merge"])
def test_what_a_person_takes_out_by_force_does_not_come_back(
    tmp_path: Path, strategy: str
) -> None:
    refinery = f'[refinery]\nstrategy = "{strategy}"\n'
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT", refinery))
    terminal.commit("A password", {"password.txt": "1234\n"})
    terminal.commit("Another password", {"other.txt": "1234\n"})
    terminal.done("brat init")
    tasks = "- [ ] Spell words\n- [ ] Sort words (after 1)"
    terminal.done(f"brat mayor start --task '{tasks}'")
    terminal.done("brat witness run")
    terminal.done("git reset --quiet --hard HEAD~1")
    terminal.commit("Notes", {"NOTES.md": "Meanwhile.\n"})
    terminal.done("brat refinery run")
    terminal.done("brat witness run")
    assert convoy_of(terminal)["tasks"][0]["state"] == "merged"
    terminal.done("git reset --quiet --hard HEAD~2")

    terminal.done("brat refinery run")

    terminal.done("brat pull")
    names = [f"words/{name}.py" for name in ("__init__", "count", "task_1", "task_2")]
    assert sorted(terminal.done("git ls-files words").split()) == names
    assert not [*terminal.cwd.glob("*.txt"), *terminal.cwd.glob("*.md")]
    said = terminal.done("git log --format=%s")
    assert not {"A password", "Another password", "Notes"} & {*said.splitlines()}
