"""The scripted vendor: what it reads in four dialects, and what it decides."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from grite.errors import BratError
from tests.demo.requests import ANTHROPIC, CHAT, GEMINI, RESPONSES
from tests.world.vendor import (
    anthropic_messages,
    gemini_content,
    openai_chat,
    openai_responses,
)
from tests.world.vendor.conversation import Asked, Say, Tool, Use
from tests.world.vendor.script import (
    Case,
    Loop,
    Patch,
    Run,
    Script,
    Status,
    Write,
    dump,
    load,
)
from tests.world.vendor.scripted_model import answer
from tests.world.vendor.tool_calls import folder

WRITE = Tool("write", {"filePath": {}, "content": {}}, ("filePath", "content"))
SHELL = Tool(
    "Bash", {"command": {"type": "string"}, "why": {"type": "string"}}, ("why",)
)
STEPS = (Write(path="a.txt", content="A\n"), Run(command="make"))
CASE = Case(when=("Fix it",), steps=STEPS, closing="All done.")
PROMPT = "Fix it. <cwd>/work/here</cwd>"


ASKED = Asked(model="m", text=PROMPT, said="", results=0, tools=(WRITE, SHELL))


class Dialect(Protocol):
    """The part of a dialect's module that reads."""

    def read(self, body: Mapping[str, Any]) -> Asked: ...


def test_the_first_case_that_fits_is_played() -> None:
    other = Case(when=("Fix",), unless=("again",), closing="2")
    script = Script(cases=(CASE, other))

    assert script.case("Fix it") == CASE
    assert script.case("Fix that") == other
    assert script.case("Fix that again").steps == ()


def test_a_script_survives_the_disk_and_a_wrong_one_is_refused() -> None:
    script = Script(cases=(CASE, Case(fault=Status(code=429, retry_after=3), first=2)))

    assert load(dump(script)) == script
    with pytest.raises(BratError, match="this is no script of a vendor"):
        load(b'{"cases": [{"steps": [{"type": "fly"}]}]}')


def test_the_number_of_results_says_which_step_is_next() -> None:
    first, second = answer(CASE, ASKED), answer(CASE, replace(ASKED, results=1))

    assert first == Use(
        "call_1", "write", {"filePath": "/work/here/a.txt", "content": "A\n"}
    )
    assert second == Use("call_2", "Bash", {"command": "make", "why": "as scripted"})
    assert answer(CASE, replace(ASKED, results=2)) == Say("All done.")


def test_without_a_tool_that_writes_the_shell_does(tmp_path: Path) -> None:
    step = Write(path="new folder/it's.txt", content="50% of $HOME\n")
    turn = answer(Case(steps=(step,)), replace(ASKED, tools=(SHELL,)))

    assert isinstance(turn, Use)
    subprocess.run(["sh", "-c", turn.arguments["command"]], cwd=tmp_path, check=True)
    assert (tmp_path / step.path).read_text() == step.content


def test_without_tools_it_answers_with_edits_once() -> None:
    text = f"{PROMPT} <<<<<<< SEARCH"
    told = replace(ASKED, tools=(), text=text)
    turn = answer(CASE, told)

    assert isinstance(turn, Say)
    assert "a.txt\n```\n<<<<<<< SEARCH\n=======\nA\n>>>>>>> REPLACE\n```" in turn.text
    assert answer(CASE, replace(told, said=turn.text)) == Say("All done.")
    assert answer(CASE, replace(told, text="A title, please")) == Say("All done.")


DIFF = """\
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


def test_a_patch_is_written_and_then_applied(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("zero\none\ntwo\nthree\n")
    (tmp_path / "gone").write_text("bye\n")
    for results in range(2):
        shell = replace(ASKED, tools=(SHELL,), results=results)
        turn = answer(Case(steps=(Patch(diff=DIFF),)), shell)
        assert isinstance(turn, Use)
        run = ["sh", "-c", turn.arguments["command"]]
        subprocess.run(run, cwd=tmp_path, check=True)

    assert (tmp_path / "a.txt").read_text() == "zero\none\n2\nthree\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_patch_without_tools_is_one_edit_a_hunk() -> None:
    told = replace(ASKED, tools=(), text="<<<<<<< SEARCH")
    turn = answer(Case(steps=(Patch(diff=DIFF),)), told)

    assert isinstance(turn, Say)
    blocks = (
        "a.txt\n```\n<<<<<<< SEARCH\none\ntwo\n=======\none\n2\n>>>>>>> REPLACE\n```",
        "gone\n```\n<<<<<<< SEARCH\nbye\n=======\n# gone\n>>>>>>> REPLACE\n```",
    )
    assert turn.text == "\n\n".join([*blocks, "Done."])


def test_edits_are_repeated_when_the_files_were_only_read_now() -> None:
    told = replace(ASKED, tools=(), text="<<<<<<< SEARCH")
    first = answer(CASE, told)
    assert isinstance(first, Say)
    text = f"{told.text} {first.text} I added these files to the chat: a.txt"

    assert answer(CASE, replace(told, text=text, said=first.text)) == first
    assert answer(CASE, replace(told, text=text, said=first.text * 2)) == Say(
        "All done."
    )


def test_a_loop_never_ends() -> None:
    turn = answer(Case(fault=Loop()), replace(ASKED, results=500))

    assert isinstance(turn, Use)


@pytest.mark.parametrize(
    "text",
    [
        "Primary working directory: /work/here\n - Is",
        "<cwd>/work/here</cwd>",
        "I'm working in the directory: /work/here.",
        "**Workspace Directories:**\n  - /work/here\n",
    ],
)
def test_the_folder_is_read_off_what_the_cli_says(text: str) -> None:
    assert folder(text) == "/work/here"


def test_a_folder_is_not_made_up() -> None:
    assert (
        folder("relative to cwd</description> and the working directory is gone")
        is None
    )


DIALECTS = [
    pytest.param(anthropic_messages, ANTHROPIC, id="anthropic"),
    pytest.param(openai_chat, CHAT, id="chat"),
    pytest.param(openai_responses, RESPONSES, id="responses"),
    pytest.param(gemini_content, GEMINI, id="gemini"),
]


@pytest.mark.parametrize(("dialect", "body"), DIALECTS)
def test_a_dialect_reads_the_same_conversation(
    dialect: Dialect, body: Mapping[str, Any]
) -> None:
    found = dialect.read(body)

    for part in ("Be good.", "Fix it", "I will", "ok"):
        assert part in found.text
    assert found.said == "I will"
    assert found.results == 1
    assert found.tools == (Tool("Bash", {"command": {}}),)


@pytest.mark.parametrize(
    "dialect", [anthropic_messages, openai_chat, openai_responses, gemini_content]
)
def test_a_dialect_reads_an_empty_body(dialect: Dialect) -> None:
    assert dialect.read({}).results == 0
