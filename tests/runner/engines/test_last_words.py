"""What an agent says of its task is its last word, wherever that stands."""

import json

from runner.engines import ENGINES
from runner.engines.engine_events import Error, Result, Said, ToolUse
from runner.engines.row import Row
from tests.runner.engines.hearing import listened
from tests.world.cases import looped


def ended(*lines: str, name: str = "shell", exit_code: int = 0) -> tuple[object, str]:
    whole = (f"{line}\n" for line in lines)
    report = listened(ENGINES[name], *whole, code=exit_code).report
    return report.status, report.summary


@looped(
    ("BRAT: done fixed the test", "done", "fixed the test"),
    ("**BRAT: done**: fixed it", "done", "fixed it"),
    ("> `BRAT: noop` - it is right", "noop", "it is right"),
    ("BRAT: blocked, no rights", "blocked", "no rights"),
    ("BRAT: missing_tool: cargo", "missing_tool", "cargo"),
    ("BRAT: missing_data", "missing_data", ""),
    ("BRAT: done. .env has it", "done", ".env has it"),
    ("BRAT: done .travis.yml: one list", "done", ".travis.yml: one list"),
    ("I say BRAT: noop", "done", "I say BRAT: noop"),
    ("BRAT: donely", "done", "BRAT: donely"),
    ("brat: noop", "done", "brat: noop"),
)
def test_the_word_begins_its_line(line: str, status: str, summary: str) -> None:
    assert ended("Hello.", line) == (status, summary)


def test_the_last_word_counts_unless_the_engine_failed() -> None:
    assert ended("BRAT: blocked no", "BRAT: noop all is well", "Bye.") == (
        *("noop", "all is well"),
    )
    assert ended("BRAT: done it", exit_code=1) == (None, "it")
    assert ended("BRAT: done it", name="codex") == (None, "")


LIMITED = Error(kind="rate_limited", message="429")
DONE = Result(ok=True)
TOOL = ToolUse(name="write")


@looped(
    ((LIMITED, DONE), 0, None),
    ((LIMITED, DONE), None, LIMITED),  # we ended it
    ((LIMITED, TOOL), None, None),
    ((TOOL, LIMITED), None, LIMITED),
)
def test_an_end_in_success_or_a_tool_that_is_used_again_is_over_it(
    said: tuple[Said, ...], exit_code: int | None, trouble: Error | None
) -> None:
    row = Row(name="said", argv=lambda _call: ("said",), read=lambda _s, _t: said)
    report = listened(row, "one line\n", code=exit_code).report

    status = "done" if exit_code == 0 else None
    assert (report.status, report.trouble) == (status, trouble)


def piece(text: str) -> str:
    """Return what Gemini writes of a piece of a message; of none, of a tool."""
    tool = {"type": "tool_use", "tool_name": "write_file"}
    said = {"type": "message", "role": "assistant", "content": text, "delta": True}
    return json.dumps(said if text else tool)


@looped(
    # it is found wherever it was cut
    (["All is well.\n\nBRAT: blo", "cked. No ", "key."], ("blocked", "No key.")),
    # after a tool a new message begins
    (["I write.", "", "BRAT: noop. ", "It is there."], ("noop", "It is there.")),
    # what is said after it does not hide it
    (["BRAT: noop. It is there.", "", "Bye."], ("noop", "It is there.")),
)
def test_the_last_word_of_a_message_in_pieces(
    pieces: list[str], told: tuple[str, str]
) -> None:
    end = json.dumps({"type": "result", "status": "success"})

    assert ended(*map(piece, pieces), end, name="gemini") == told
