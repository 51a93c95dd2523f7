"""The README's way on a repository of one's own, and the way role by role, typed."""

import re
from pathlib import Path

import pytest
from msgspec import Struct

from tests.world.readme import LOCAL, README, blocks, typed_lines
from tests.world.seen import Seen, look
from tests.world.terminal import Said, contents, left_running
from tests.world.waiting import Once
from tests.world.words import PULL, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]

STATE = ".git/brat/"
LIST = "Add two modules\n\n- [ ] Spell words\n- [ ] Spell them backwards (after 1)\n"
MOST_STEPS = 12


class Way(Struct, frozen=True):
    """What a person saw who followed the page and looked at the checkout each time."""

    typed: list[tuple[str, Said]]
    touched: list[str]
    """Files outside of brat's own folder that its commands changed."""
    pulled: list[Said]
    own_commits: list[str]
    """What the person committed meanwhile."""
    head: list[str]
    """The commits of the checkout at the end."""
    files: dict[str, str]
    """What it holds then: path and content."""
    tests: Said
    left_running: list[str]
    seen: Seen


(CONFIG,) = blocks(README, "toml", section="On your own repository")


def walk(folder: Path) -> Way:
    """Type the page's lines role by role, with a list for the page's own task."""
    terminal = project(folder, CONFIG)
    (terminal.cwd / "pyproject.toml").touch()  # git's index is out of date about it
    typed: list[tuple[str, Said]] = []
    touched: set[str] = set()
    pulled: list[Said] = []
    own: list[str] = []

    def typing(line: str) -> Said:
        before = contents(terminal.cwd, but=STATE)
        said = terminal.type(line)
        typed.append((line, said))
        after = contents(terminal.cwd, but=STATE)
        touched.update(name for name, _ in before.items() ^ after.items())
        return said

    for line in typed_lines(LOCAL, "Role by role"):
        said = typing(re.sub(r'(?<=--task ").*(?=")', LIST, line))
        if line.startswith(("brat mayor start", "brat witness run")):
            notes = {"NOTES.md": "Meanwhile.\n" + "More.\n" * len(own)}
            own.append(terminal.commit("Take notes", notes))
        while line.startswith("brat refinery run"):  # each command names the next
            if pull := said.after(PULL):
                pulled.append(terminal.type(pull[0]))
            if not (following := said.after("next: ")):
                break
            assert len(typed) < MOST_STEPS, [line for line, _ in typed]
            said = typing(following[0])
    tests = terminal.type("python -m pytest -q")
    names = terminal.done("git ls-files").splitlines()
    files = {name: (terminal.cwd / name).read_text() for name in names}
    head, seen = terminal.done("git rev-list HEAD").split(), look(terminal.cwd / STATE)
    left = left_running(folder)
    return Way(typed, sorted(touched), pulled, own, head, files, tests, left, seen)


@pytest.fixture(scope="module")
def way(once: Once) -> Way:
    return once("getting-started", Way, walk)


def test_the_readmes_lines_bring_the_work(tmp_path: Path) -> None:
    terminal = project(tmp_path, CONFIG)

    shown = typed_lines(README, "On your own repository")
    said = [(line, terminal.type(line)) for line in shown if line[:5] == "brat "]

    assert [(line, one.err) for line, one in said if one.status] == []
    assert (terminal.cwd / "words/task_1.py").exists()
    assert left_running(tmp_path) == []


def test_each_command_succeeds_and_names_the_next_until_nothing_is_owed(
    way: Way,
) -> None:
    assert [(line, said.err) for line, said in way.typed if said.status != 0] == []
    _, (_, started), *then = way.typed
    *working, (_, deacon), _ = then

    assert [line for line, _ in then] == [
        *("brat witness run", "brat refinery run") * 2,
        *("brat deacon run", "brat status"),
    ]
    named = [said.after("next: ") for said in (started, *(one for _, one in working))]
    assert named == [[line] for line, _ in then[:-1]]
    assert deacon.after("next: ") == []


def test_init_says_what_it_found(way: Way) -> None:
    (line, one), *_ = way.typed
    said = one.lines

    assert line == "brat init"
    assert said[0].endswith("as pat-person/project, branch main")
    assert "CI: python -m pytest -q (pyproject.toml configures pytest)" in said


def test_the_checkout_is_not_touched_until_the_printed_line_brings_the_work(
    way: Way,
) -> None:
    assert way.touched == []
    assert [said.status for said in way.pulled] == [0]
    added = {name for name in way.files if "task_" in name}
    assert added == {
        *("words/task_1.py", "tests/test_task_1.py"),
        *("words/task_2.py", "tests/test_task_2.py"),
    }
    assert way.tests.status == 0, way.tests.out


def test_what_the_person_committed_meanwhile_is_in_it(way: Way) -> None:
    landed = way.seen.ancestors()

    assert set(way.own_commits) <= landed
    assert set(way.own_commits) <= set(way.head)
    assert way.files["NOTES.md"] == "Meanwhile.\nMore.\n"
    assert way.head[0] == way.seen.git("rev-parse", "main")
    assert [pull["merged"] for pull in way.seen.pulls] == [True] * 3
    assert way.seen.refs("refs/heads/brat/") == []
    assert way.seen.refs("refs/grite/locks/") == []
    assert way.left_running == []
