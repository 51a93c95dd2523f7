"""A message that comes in pieces, as Gemini streams them."""

import json

from runner.engines import gemini
from runner.engines.output_reader import OutputReader, Report


def heard(*lines: dict[str, object]) -> Report:
    hearing = OutputReader(gemini.ROW, lambda _said: None)
    for line in (*lines, {"type": "result", "status": "success"}):
        hearing.feed("out", json.dumps(line) + "\n")
    hearing.close("")
    return hearing.report(0)


def piece(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


TOOL: dict[str, object] = {"type": "tool_use", "tool_name": "write_file"}


def test_its_last_word_is_found_wherever_it_was_cut() -> None:
    report = heard(
        piece("All is well.\n\nBRAT: blo"), piece("cked. No "), piece("key.")
    )

    assert (report.status, report.summary) == ("blocked", "No key.")


def test_after_a_tool_a_new_message_begins() -> None:
    report = heard(
        piece("I write."), TOOL, piece("BRAT: noop. "), piece("It is there.")
    )

    assert (report.status, report.summary) == ("noop", "It is there.")


def test_what_is_said_after_the_last_word_does_not_hide_it() -> None:
    report = heard(piece("BRAT: noop. It is there."), TOOL, piece("Bye."))

    assert (report.status, report.summary) == ("noop", "It is there.")
