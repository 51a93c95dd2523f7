"""What an agent says of its task is its last word, wherever that stands."""

import json

from runner.engines import ENGINES, gemini
from runner.engines.engine_events import Error, Result, Said, ToolUse
from runner.engines.output_reader import OutputReader, Report
from runner.engines.row import Row
from tests.world.cases import looped


def ended(*lines: str, name: str = "shell", exit_code: int = 0) -> tuple[object, str]:
    hearing = OutputReader(ENGINES[name], lambda _: None)
    for line in lines:
        hearing.feed("out", f"{line}\n")
    hearing.close("")
    report = hearing.report(exit_code)
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


def heard(*said: Said, exit_code: int | None) -> Report:
    row = Row(name="said", argv=lambda _call: ("said",), read=lambda _s, _t: said)
    hearing = OutputReader(row, lambda _said: None)
    hearing.feed("out", "one line\n")
    return hearing.report(exit_code)


@looped(
    ((LIMITED, DONE), 0, None),
    ((LIMITED, DONE), None, LIMITED),  # we ended it
    ((LIMITED, TOOL), None, None),
    ((TOOL, LIMITED), None, LIMITED),
)
def test_an_end_in_success_or_a_tool_that_is_used_again_is_over_it(
    said: tuple[Said, ...], exit_code: int | None, trouble: Error | None
) -> None:
    report = heard(*said, exit_code=exit_code)

    assert (report.status, report.trouble) == (
        "done" if exit_code == 0 else None,
        trouble,
    )


def pieced(*lines: dict[str, object]) -> Report:
    hearing = OutputReader(gemini.ROW, lambda _said: None)
    for line in (*lines, {"type": "result", "status": "success"}):
        hearing.feed("out", json.dumps(line) + "\n")
    hearing.close("")
    return hearing.report(0)


def piece(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


TOOL_USE: dict[str, object] = {"type": "tool_use", "tool_name": "write_file"}


WRITTEN = "noop", "It is there."


@looped(
    # it is found wherever it was cut
    (["All is well.\n\nBRAT: blo", "cked. No ", "key."], ("blocked", "No key.")),
    # after a tool a new message begins
    (["I write.", "", "BRAT: noop. ", "It is there."], WRITTEN),
    # what is said after it does not hide it
    (["BRAT: noop. It is there.", "", "Bye."], WRITTEN),
)
def test_the_last_word_of_a_message_in_pieces(
    pieces: list[str], told: tuple[str, str]
) -> None:
    report = pieced(*(piece(text) if text else TOOL_USE for text in pieces))

    assert (report.status, report.summary) == told
