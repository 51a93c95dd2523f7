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


def test_the_last_word_counts_and_what_comes_after_it_does_not() -> None:
    assert ended("BRAT: blocked no", "BRAT: noop all is well", "Bye.") == (
        *("noop", "all is well"),
    )


def test_no_word_counts_when_the_engine_failed() -> None:
    assert ended("BRAT: done it", exit_code=1) == (None, "it")
    assert ended("BRAT: done it", name="codex") == (None, "")


# --- trouble that is over -------------------------------------------------------------


LIMITED = Error(kind="rate_limited", message="429")
DONE = Result(ok=True)
TOOL = ToolUse(name="write")


def heard(*said: Said, exit_code: int | None) -> Report:
    row = Row(name="said", argv=lambda _call: ("said",), read=lambda _s, _t: said)
    hearing = OutputReader(row, lambda _said: None)
    hearing.feed("out", "one line\n")
    return hearing.report(exit_code)


def test_an_end_in_success_is_over_it() -> None:
    report = heard(LIMITED, DONE, exit_code=0)

    assert (report.status, report.trouble) == ("done", None)


def test_a_success_said_when_we_ended_it_is_not() -> None:
    report = heard(LIMITED, DONE, exit_code=None)

    assert (report.status, report.trouble) == (None, LIMITED)


def test_a_model_that_uses_a_tool_again_is_over_it() -> None:
    assert heard(LIMITED, TOOL, exit_code=None).trouble is None
    assert heard(TOOL, LIMITED, exit_code=None).trouble == LIMITED


# --- a message in pieces --------------------------------------------------------------


def pieced(*lines: dict[str, object]) -> Report:
    hearing = OutputReader(gemini.ROW, lambda _said: None)
    for line in (*lines, {"type": "result", "status": "success"}):
        hearing.feed("out", json.dumps(line) + "\n")
    hearing.close("")
    return hearing.report(0)


def piece(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


TOOL_USE: dict[str, object] = {"type": "tool_use", "tool_name": "write_file"}


def test_its_last_word_is_found_wherever_it_was_cut() -> None:
    report = pieced(
        piece("All is well.\n\nBRAT: blo"), piece("cked. No "), piece("key.")
    )

    assert (report.status, report.summary) == ("blocked", "No key.")


def test_after_a_tool_a_new_message_begins() -> None:
    report = pieced(
        piece("I write."), TOOL_USE, piece("BRAT: noop. "), piece("It is there.")
    )

    assert (report.status, report.summary) == ("noop", "It is there.")


def test_what_is_said_after_the_last_word_does_not_hide_it() -> None:
    report = pieced(piece("BRAT: noop. It is there."), TOOL_USE, piece("Bye."))

    assert (report.status, report.summary) == ("noop", "It is there.")
