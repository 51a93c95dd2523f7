"""What the command line says is what was meant, letter by letter."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from brat.commands.command_line import command_line
from brat.commands.mcp_server import typed
from brat.commands.start_convoy import title_of
from brat.terminal.console import from_here, name_repository
from grite.errors import BratError
from tests.world.cases import looped
from tests.world.program import ran
from tests.world.terminal import BRAT


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    """Let no command that ran in this process name the repository of the next."""
    name_repository(Path())
    yield
    name_repository(Path())


def test_commands_name_a_repository_that_is_not_here(tmp_path: Path) -> None:
    told = "3 wait: brat task retry 1, or brat pull (git pull x); brat knows git"
    assert from_here(told) == told
    name_repository(tmp_path / "a b")
    at = f"'{tmp_path}/a b'"
    assert from_here(told) == (
        f"3 wait: brat task retry --repo {at} 1, or brat pull --repo {at} "
        f"(git -C {at} pull x); brat knows git"
    )


TYPED = (
    ("{brat} config check", 0, ""),
    ("mkdir x; cd x; {brat} --repo .. config check", 0, ""),
    ("{brat} config check | true", 0, ""),
    ("{brat} config check 2>&-", 0, ""),
    ("{brat} mayor --help >&-", 0, ""),
    ("mkdir y; cd y; rmdir ../y; {brat} status", 1, "current folder no longer exists"),
    ("{brat} mayor --help >/dev/full", 1, "cannot use the output: No space"),
    ("PATH=/none {brat} init", 1, "git is not on the PATH: install it"),
    ("ln -s /sys .git/brat; {brat} init", 1, "/sys"),
    ("git init -q ü; PYTHONIOENCODING=ascii {brat} why 1 --repo ü", 1, "\\xfc "),
    ("{brat} mayor start --task \"$(printf 'gr\\374n')\"", 2, "not valid UTF-8"),
)


def test_wherever_it_is_told_there_is_no_traceback(tmp_path: Path) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@x")
    ran(("git", "init", "-q"), cwd=tmp_path, check=True)
    begin = ("git", *person, "commit", "-qm", "a", "--allow-empty")
    ran(begin, cwd=tmp_path, check=True)
    for line, status, told in TYPED:
        done = ran(("sh", "-c", line.format(brat=BRAT)), cwd=tmp_path)

        assert "Traceback" not in done.stderr, line
        assert "Exception ignored" not in done.stderr, line
        assert told in done.stderr
        assert done.returncode == status, line


@looped(
    *(("# Add it\n\nWords", "Add it"), ("> ### 1. Add it\nmore", "Add it")),
    *(("```python\nx = 1\n```\nFix", "x = 1"), ("---\n- [ ] One (after 1)\n", "One")),
    *(("#12 fails", "#12 fails"), ("`a` fails", "`a` fails"), ("```", "```")),
)
def test_a_title_is_the_first_line_that_says_something(text: str, title: str) -> None:
    assert title_of(text) == title


@looped(
    ("task show x", "'NUMBER': 'x' is not a whole number."),
    ("log show -n 1.5", "'-n': '1.5' is not a whole number from 0 upwards."),
    ("up --port 70000", "'--port': '70000' is not a whole number from 0 to 65535."),
    ("log show -n -1", "'-n': '-1' is not a whole number from 0 upwards."),
    ("log export --format x", "'--format': 'x' is not one of 'json', 'md'."),
    ("task split 1 a --convo x", "No such option '--convo'. Did you mean '--convoy'?"),
    (
        "run --timout=5m x",
        "No such option '--timout'. (Did you mean one of: '--timeout'",
    ),
)
def test_a_bad_value_is_told_with_where_it_stands_and_what_is_allowed(
    line: str, said: str
) -> None:
    words = line.split()

    done = CliRunner().invoke(command_line(words[0]), words)

    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


@looped(
    *("run", "task split 1", "task tell 1", "task add", "task retry 1"),
    *("retry 1", "convoy revise", "mayor start --task", "run x --title"),
)
async def test_a_text_may_begin_with_a_dash_and_not_be_too_long(
    line: str, tmp_path: Path
) -> None:
    with pytest.raises(BratError, match="too long"):
        await typed(tmp_path, ("mayor", "start"), "x" * 200_000)
    words = line.split()
    for text in ("- [ ] a -n", "--force is missing", "— [ ] a", "-5 °C"):
        argv = [*words, text, "--repo", str(tmp_path)]
        done = CliRunner().invoke(command_line(words[0]), argv)

        assert "not in a git repository" in f"{done.exception}", done.output
