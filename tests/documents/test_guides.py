"""What the pages tell people to type is typed, or read by what would read it."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from bot.requests.verb_table import BY_NAME
from bot.text.slash_commands import SlashCommand, slash_commands
from brat.commands.command_line import command_line
from convoy import config
from convoy.patterns import built_in_pattern
from convoy.planner import tasklist
from tests.documents.pages import ROOT, pages
from tests.world.cases import looped
from tests.world.readme import LOCAL, README, blocks, typed_lines
from tests.world.terminal import left_running, new_terminal
from tests.world.words import engine, project

COMMANDS = command_line("task")
PAGES = [
    *(README, ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md"),
    *(ROOT / "deploy/fleet/README.md", *sorted(ROOT.glob("docs/*.md"))),
]


def inline(page: Path, word: str) -> list[str]:
    """Return what stands between backticks and begins with a word."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    return re.findall(rf"`({word} [^`\n]*)`", text)


@pytest.mark.timeout(600)
@pytest.mark.layer("deep")
def test_the_patterns_lines_are_typed(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    page = ROOT / "docs/workflows.md"
    (lines,) = blocks(page, "sh")
    terminal.write({"../typed.sh": f"set -eux\n{lines}"})

    said = terminal.type("bash ../typed.sh")

    assert said.status == 0, said.err
    (own,) = blocks(page, "yaml")
    terminal.commit("Plan like that", {".brat/workflows/mine.yml": own})
    assert "mine " in terminal.done("brat workflow list")
    (convoy,) = json.loads(terminal.type("brat status --json").out)["convoys"]
    assert len(convoy["tasks"]) == 2
    assert left_running(tmp_path) == []


@pytest.mark.timeout(300)
@pytest.mark.layer("deep")
def test_the_tutorial_goes_to_its_end(tmp_path: Path) -> None:
    terminal = new_terminal(tmp_path)
    typed = "".join(blocks(ROOT / "docs/tutorial.md", "sh"))
    terminal.write({"../tutorial.sh": f"set -eu\n{typed}"})

    said = terminal.type("bash ../tutorial.sh")

    assert said.status == 0, said.err
    assert "greet-everybody-4, task 3: Count the greetings" in said.out
    made = terminal.cwd / "words"
    forge = next(made.glob(".git/brat/forge/repos/*/words.git"))
    landed = terminal.done(f"git --git-dir={forge} ls-tree -r --name-only main")
    assert {f"said/task-{n}.txt" for n in (1, 2, 3)} <= set(landed.splitlines())
    assert (made / ".git/brat/report-greet-everybody-4.html").is_file()
    assert left_running(tmp_path) == []
    convoys = json.loads(terminal.done(f"sh -c 'cd {made} && brat status --json'"))
    assert [convoy["state"] for convoy in convoys["convoys"]] == ["complete"] * 2


def test_each_way_begins_as_in_the_readme_or_with_three_commands_at_most() -> None:
    assert {*typed_lines(ROOT / "docs/start.md")} <= {*typed_lines(README)}
    assert blocks(LOCAL, "sh") == ["brat init\nbrat up\n"]
    ways = [
        typed_lines(ROOT / f"docs/{way}.md", "Set it up")
        for way in ("actions", "hosting")
    ]
    assert ways[0] == typed_lines(README, "On GitHub")
    for typed in ways:
        assert 1 <= len(typed) <= 3
        assert any(re.match("brat (init --|setup$)", line) for line in typed)


def test_each_configuration_that_is_shown_is_one() -> None:
    shown = [
        (page.name, text)
        for page in (*PAGES, *sorted((ROOT / "examples").glob("*.toml")))
        for text in (
            blocks(page, "toml") if page.suffix == ".md" else [page.read_text()]
        )
        if not text.startswith("# pyproject.toml")
    ]

    assert len(shown) >= 12
    for name, text in shown:
        config.load(text, source=name)


def test_the_list_names_every_example_and_the_form_makes_the_tasks_it_shows() -> None:
    examples = ROOT / "examples"
    listed = re.findall(r"\]\((.+?)\)", (examples / "README.md").read_text())
    files = [file.relative_to(examples) for file in examples.rglob("*.*")]
    kept = {str(file) for file in files if file.parts[0] != "demo-project"}
    assert {*listed, "README.md"} == kept

    form = YAML(typ="safe").load(examples / "forms/convoy.yml")
    text = form["body"][0]["attributes"]["value"]
    engines = config.load("", source="example").settings().engines
    planned = tasklist.plan("Work", text, engines, 20)
    assert [task.after for task in planned] == [(), (1,)]
    text = (examples / "second-engine-reviews.toml").read_text()
    reviews = config.load(text, source="example")
    assert reviews.mayor.pattern == "writer-reviewer"
    assert built_in_pattern(reviews.mayor.pattern).all_steps
    assert {*reviews.settings().engines} == {"default", "reviewer"}


def test_each_other_file_that_is_shown_can_be_read() -> None:
    for page in PAGES:
        for text in blocks(page, "json"):
            json.loads(text)
        for text in blocks(page, "yaml"):
            YAML(typ="safe").load(text.replace("\n#", "\n      #"))
    (served,) = json.loads(blocks(ROOT / "docs/mcp.md", "json")[0])[
        "mcpServers"
    ].values()
    assert unknown(" ".join((served["command"], *served["args"]))) == []


def unknown(line: str) -> list[str]:
    """Return the words of a command line that no command or option has."""
    at: click.Command = COMMANDS
    _, *words = line.replace("\\|", "|").split()
    while words and isinstance(at, click.Group) and words[0] in at.commands:
        at = at.commands[words.pop(0)]
    options = {"--help", *(name for each in at.params for name in each.opts)}
    left = [word for word in words if word.startswith("-") and word != "--"]
    return [*[word for word in left if word not in options]] + (
        words[:1] if isinstance(at, click.Group) and words[:1] != left[:1] else []
    )


def test_each_command_that_is_named_exists() -> None:
    named = [
        (page.name, line)
        for page in PAGES
        for line in (
            *inline(page, "brat"),
            *(part for line in typed_lines(page) for part in line.split(" && ")),
        )
        if line.startswith("brat ") and "COMMAND" not in line
    ]

    assert len(named) > 150
    assert [(name, line, unknown(line)) for name, line in named if unknown(line)] == []


def test_each_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"(?m)^([a-z-]+):", makefile))
    for page in PAGES:
        for line in (*inline(page, "make"), *typed_lines(page)):
            if line.startswith("make "):
                assert shlex.split(line)[1] in targets, (page.name, line)


def test_each_comment_that_is_named_is_heard() -> None:
    for page in PAGES:
        shown = [
            text for text in blocks(page, "") if text.lstrip().startswith("/brat ")
        ]
        for line in (*inline(page, "/brat"), *shown):
            verb = line.split()[1]
            assert verb in {*BY_NAME, "WORD"}, (page.name, line)
        for text in shown:
            (found,) = slash_commands(text)
            assert isinstance(found, SlashCommand), (page.name, text)


# --- what `make docs` writes, and how much people wrote -------------------------------


MADE = re.compile(r"(?s)<!-- ([\w-]+): made by make docs -->.*?<!-- end of \1 -->")
REFERENCE = {"command-line", "commands", "configuration"}
REFERENCE |= {"engine-requests", "log-format"}
MOST_WORDS = 30_000


@looped(*[pytest.param(*each, id=each[0].name) for each in pages()])
def test_a_document_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text("utf-8") == text, "run `make docs`"


def written_words(page: Path) -> int:
    """Count the words that no program writes, as `wc -w` does."""
    text = MADE.sub("", page.read_text("utf-8"))
    return len(text.partition("<!-- written by `make mutants")[0].split())


def test_the_documents_are_short_enough_to_be_read() -> None:
    pages = [
        page
        for page in (*PAGES, ROOT / ".github/SECURITY.md")
        if page.stem not in REFERENCE
    ]

    assert sum(map(written_words, pages)) <= MOST_WORDS
    assert len(pages[0].read_text("utf-8").splitlines()) <= 120
