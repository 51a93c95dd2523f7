"""What has to be here is asked for before an issue is opened, not after attempts."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from brat.local.run_roles import checked
from brat.local.start_checks import uncounted_costs
from brat.repository.checkout import find
from convoy.config import load
from convoy.model.engine_types import ENGINE_TYPES
from grite.errors import BratError
from tests.world.plugin import ROOT
from tests.world.terminal import Terminal, contents
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]
START = "brat mayor start --task 'Spell words'"
ELSE = "or choose another engine in .brat/config.toml"
SET = "or set another [ci] command in .brat/config.toml"
TESTER = "tester-nobody-has"
LACKS = (
    (
        None,
        "[engine.default] claude-code (the default): the program claude was not found",
        f"run `npm install -g @anthropic-ai/claude-code`, {ELSE}",
        (START, "brat up --port 0"),
    ),
    (
        engine("my-agent", f'[ci]\ncommand = "A=1 {TESTER} -q"\n'),
        f"the CI command is `A=1 {TESTER} -q`, but the program {TESTER} was not found",
        f"install it, {SET}",
        (f"{START} --headless", "brat refinery run"),
    ),
)


def test_what_is_not_here_is_one_sentence_and_nothing_begins(tmp_path: Path) -> None:
    for number, (config, lack, mend, lines) in enumerate(LACKS):
        terminal = project(tmp_path / f"{number}", config)
        terminal.done("brat init")
        before = contents(terminal.cwd)
        for line in lines:
            said = terminal.type(line)
            assert (said.status, said.lines) == (1, [f"brat: {lack}: {mend}"])
        assert contents(terminal.cwd) == before
        assert f"  FAULT {lack} -> {mend}" in terminal.type("brat doctor").lines


Lacks = Callable[..., str]


@pytest.fixture
def lacks(monkeypatch: pytest.MonkeyPatch) -> Lacks:
    """Return what keeps a convoy from its start, as the person's shell is."""

    def told(terminal: Terminal, **more: str) -> str:
        for name, value in (terminal.environment() | more).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(BratError) as caught:
            checked(find(terminal.cwd))
        return str(caught.value)

    return told


def shell(*args: str) -> str:
    quoted = ", ".join(f'"{each}"' for each in args)
    return f'[engine.default]\ntype = "shell"\nargs = [{quoted}]\n'


def ci(command: str) -> str:
    return engine("true", f'[ci]\ncommand = "{command}"\n')


def test_an_agent_that_its_box_hides_is_said_before_it_is_paid(
    tmp_path: Path, lacks: Lacks
) -> None:
    script = tmp_path / "agent.sh"
    script.write_text("true\n")
    terminal = project(tmp_path, shell("sh", str(script)))

    said = f"agents cannot see {script}"
    assert f"[engine.default] shell: {said}: move it" in lacks(terminal)
    terminal.done("brat init")
    assert f"{said} -> move it" in terminal.type("brat doctor").err
    listed = f"env BRAT_SHOWN={script.parent} brat doctor"
    assert "agents cannot see" not in terminal.type(listed).err


def test_a_program_of_ci_that_its_box_hides_is_said_with_what_shows_it(
    tmp_path: Path, lacks: Lacks
) -> None:
    program, link = tmp_path / "src/tester", tmp_path / "bin/tester"
    for each in (program, link):
        each.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    link.symlink_to(program)
    hidden = f"the sandbox of the CI command does not contain {program}"
    move = "move it into the repository and give its path relative to the"
    mend = f"put its folder on the PATH or {move} repository root"

    named = project(tmp_path / "named", ci(f"FAST=1 {program} -q"))
    assert lacks(named) == f"{hidden}: {mend}"
    linked = project(tmp_path / "linked", ci("tester -q"))
    path = f"{link.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    assert lacks(linked, PATH=path) == f"{hidden}: {mend}"


def test_a_budget_that_knows_no_costs_is_pointed_out() -> None:
    budget = "[budget]\nday = 5\nattempt = 1\n"
    for name, keys, mend in (
        ("codex", "day, attempt", "price"),
        ("aider", "attempt", "price"),
        ("shell", "day, attempt", "timeout"),
    ):
        default = f'[engine.default]\ntype = "{name}"\nargs = ["a"]\n'
        config = load(f"{default}{budget}", source="x")
        [lack] = uncounted_costs(config)
        assert str(lack) == (
            f"[engine.default] {name}: its cost is unknown to [budget] {keys}: "
            f"set [engine.default] {mend} in .brat/config.toml"
        )
    told = tomllib.loads((ROOT / "docs/engines.toml").read_text("utf-8"))
    for name, row in ENGINE_TYPES.items():
        assert row.tells_cost == ("cost" in told.get(name, {})), name


def test_a_script_that_cannot_be_started_is_said_with_what_mends_it(
    tmp_path: Path, lacks: Lacks
) -> None:
    lost = "agents get only committed files, not {0}: run `git add {0}` and commit it"
    ignored = "not made/ci.sh: git ignores it, so put its folder on the PATH and use"
    mode = "run `chmod +x ./agent.sh && git add ./agent.sh` and commit it"
    home = "write its full path, because no shell expands ~ here"
    builtin = "it is a bash builtin, so begin the command with `bash -c`"
    install = "install it and put it on the PATH"
    activated = "install it there or in a virtual environment that you activate"
    no_module = f"but python has no module nobody_has: {activated}"
    program = "[engine.default] shell: the program {} {}"
    for number, (config, name, lack) in enumerate(
        (
            (shell("sh", "./tools/it.sh"), "tools/it.sh", lost.format("tools/it.sh")),
            (ci("./ci.sh -q"), "ci.sh", lost.format("ci.sh")),
            (ci("FAST=1 sh ci.sh"), "ci.sh", lost.format("ci.sh")),
            (ci("./made/ci.sh"), "made/ci.sh", f"{ignored} its name"),
            (ci("python -m nobody_has -q"), "more.sh", f"{no_module}, {SET}"),
            *(
                (shell(it), "more.sh", program.format(it, lack))
                for it, lack in (
                    ("./agent.sh", f"is not executable: {mode}"),
                    ("~/agent.sh", f"was not found: {home}"),
                    ("source", f"was not found: {builtin}"),
                    ("agent-nobody-has", f"was not found: {install}, {ELSE}"),
                )
            ),
        )
    ):
        terminal = project(tmp_path / f"{number}", config)
        terminal.commit("Agent", {"agent.sh": "true\n"})
        terminal.write({name: "#!/bin/sh\n"})
        (terminal.cwd / name).chmod(0o755)
        (terminal.cwd / ".git/info/exclude").write_text("made/\n")

        assert lacks(terminal).endswith(lack)


def test_a_list_with_a_fault_is_told_where_it_was_typed(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent", "[refinery]\nrequire_ci = false\n"))
    start = "brat mayor start --task '- [ ] Spell words paths: a, words/my count.py'"

    for line in (start, f"{start} --plan-only"):
        said = terminal.type(line)

        assert said.status == 1
        assert "no convoy for issue" in said.err
        assert 'task 1: "paths: a, words/my count.py" could not be read' in said.err
        assert said.lines[-1].endswith("and quote those with spaces.")
