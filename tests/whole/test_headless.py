"""`brat mayor start --headless` as the only command of a job: its exit statuses."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from brat.commands.command_line import command_line
from tests.runner.engines.hearing import SAMPLES
from tests.world.terminal import left_running
from tests.world.words import BARE, NO_BOX, engine, facts, project, status, taken

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]

FAILING = engine("echo I give up >&2; exit 3", "[witness]\nattempts = 1\n")
HEADLESS = "brat mayor start --task 'Spell words' --headless"


def test_0_when_all_is_merged_with_a_configuration_that_is_not_committed(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, None)
    config = terminal.cwd / ".brat/config.toml"
    terminal.write({".brat/config.toml": engine("my-agent < $BRAT_PROMPT")})

    said = terminal.type(HEADLESS)

    taken(terminal, said)
    assert f"using the uncommitted version of {config}" in said.lines
    assert (terminal.cwd / "words/task_1.py").exists()
    assert terminal.done("git status --short") == "?? .brat/"
    assert left_running(tmp_path) == []


def test_1_when_a_task_fails_and_a_person_may_give_it_up(tmp_path: Path) -> None:
    terminal = project(tmp_path, FAILING)

    said = terminal.type(HEADLESS)

    assert said.status == 1
    assert any("task 1 is blocked" in line for line in said.lines)
    assert "The agent exited with status 3: " in said.err
    assert any("brat retry 1" in line for line in said.lines)
    assert left_running(tmp_path) == []

    assert terminal.type("brat status").status == 1
    dropped = terminal.type("brat task drop 1")

    assert dropped.status == 0, dropped.err
    kinds = {fact["type"] for fact in facts(terminal)}
    assert kinds >= {"work.refused", "task.blocked", "task.dropped"}


def test_what_is_merged_while_another_task_waits_has_not_landed(tmp_path: Path) -> None:
    script = 'test "$BRAT_TITLE" = "Say no" && exit 3; my-agent < $BRAT_PROMPT'
    terminal = project(tmp_path, engine(script))

    terminal.type("brat mayor start --headless --task 'Say yes' --task 'Say no'")

    [name] = [convoy["name"] for convoy in status(terminal)["convoys"]]
    said = "main already has everything that landed; finished tasks of "
    pulled = terminal.type("brat pull")
    assert pulled.lines == [f"{said}{name} land with the rest of it"]


def test_1_when_the_days_budget_is_spent(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("true", "[budget]\nday = 0\n"))

    said = terminal.type(f"{HEADLESS} --timeout 2m")

    assert said.status == 1
    assert any("today's budget of $0.00 is used up" in line for line in said.lines)
    assert not said.after("next: ")


def test_2_when_it_is_not_used_as_it_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = project(tmp_path, None)
    empty = terminal.type("brat mayor start --headless --task ''")
    assert (empty.status, empty.out) == (2, "")
    assert "the task is empty" in empty.err
    monkeypatch.chdir(terminal.cwd)
    for line, why in (
        ("mayor start --headless --task x --timeout soon", "--timeout: "),
        ("mayor start --headless --task x --timeout 0", "--timeout must"),
        ("mayor start --task x --timeout 1h", "--timeout requires --headless"),
        ("mayor start --headless", "--task"),
        ("mayor start --task x --plan-only --headless", "use only one"),
        ("mayor start --headless --task x --title ' '", "--title must be one line of"),
        ("run ''", "brat: the task is empty"),
        ("run - --timeout soon", "empty"),
        ("log adopt 1234567", "1234567 is not a full commit ID"),
        ("lock acquire banana", "banana is not a resource"),
        ("lock acquire repo:bot", "repo:bot"),
        ("workflow run spec --task x -v file", '"file" is not an input'),
    ):
        words = shlex.split(line)
        done = CliRunner().invoke(command_line(words[0]), words)
        said = f"{done.output}{done.exception}"

        assert (done.exit_code, why in said) == (2, True), (line, said)
    assert not (terminal.cwd / ".git/brat").exists()


def test_3_when_the_time_is_over_and_nothing_runs_on(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("sleep 60"))

    said = terminal.type(f"{HEADLESS} --timeout 3s")

    assert said.status == 3
    assert "not finished after 3 s; work is kept; to continue: brat up" in said.lines
    again = terminal.type(f"{HEADLESS} --timeout 1s")
    assert again.status == 3
    found = "issue #1 has the same text and is still open: continuing with it"
    assert found in again.lines
    assert left_running(tmp_path) == []


# --- what the model's vendor does -----------------------------------------------------


CONFIG = '[engine.default]\ntype = "claude-code"\n\n[witness]\nattempts = 1\n' + NO_BOX
KEY = "ANTHROPIC_API_KEY=made-up-key-0123456789"
LIMITED_ONCE = """\
if mkdir '{met}' 2> /dev/null; then cat '{limited}'; exit 1; fi
my-agent < "$BRAT_PROMPT"
cat '{done}'
"""


def test_a_rate_limit_costs_the_task_some_time_and_not_its_only_attempt(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, CONFIG)
    limited, done = (SAMPLES / f"claude-{name}.stdout" for name in ("b429", "ok"))
    met = terminal.home / "met"
    terminal.install("claude", LIMITED_ONCE.format(met=met, limited=limited, done=done))

    said = terminal.type(f"env {KEY} {HEADLESS}")

    assert said.status == 0, said.err
    (again,) = [f for f in facts(terminal, "task.queued") if f["cause"] != "planned"]
    (refused,) = facts(terminal, "work.refused")
    first, second = facts(terminal, "task.started")
    assert (again["cause"], again["why"]) == ("outage", refused["why"])
    assert again["why"].startswith("The vendor's rate limit was reached: API Error")
    assert (first["attempt"], second["attempt"]) == (1, 2)
    assert second.get("notes", []) == []
    assert again["not_before"] > 0
    assert left_running(tmp_path) == []


# --- what an agent leaves on a branch of its own, or in a stash -----------------------


ASIDE = r"""
echo "$BRAT_TASK" > side.txt
half=a1B2c3D4e5a1B2c3D4e5
if [ "$BRAT_TASK" = 3 ]; then printf ghp_%s $half$half > key; fi
git checkout --quiet -b side
git add .
git commit --quiet --message 'On the side'
git checkout --quiet -
if [ "$BRAT_TASK" != 1 ]; then exit; fi
echo put away > stashed.txt
git stash --quiet --include-untracked
echo mine > own.txt
"""


def test_it_is_kept_beside_the_attempt_unless_it_shows_a_secret(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent", "[witness]\nattempts = 1\n"))
    terminal.install("my-agent", ASIDE)
    terminal.done("brat init")
    tasks = "--task 'Do one' --task 'Do two' --task 'Do three'"

    terminal.type(f"brat mayor start --headless {tasks}")

    listed = "for-each-ref --format=%(refname) refs/grite/attempts"
    kept = {"1": "", "2": "", "3": ""}
    for ref in terminal.done(f"git -C {BARE} {listed}").splitlines():
        for file in ("^1:side.txt", "^2^3:stashed.txt"):
            shown = terminal.type(f"git -C {BARE} show {ref}{file}").out
            kept[ref.split("/")[4]] += shown
    assert sorted(kept.pop("1").splitlines()) == ["1", "put away"]
    assert kept == {"2": "2\n", "3": ""}
    notes = {each["task"]: each["notes"] for each in facts(terminal, "task.noted")}
    said = "What is on another branch, or stashed, is kept at refs/grite/attempts/"
    for task in (1, 2):
        assert notes[task][0].startswith(f"{said}do-one-1/{task}/1-")
    assert notes[3] == ["Left out (committed on another branch, or stashed): side."]
