"""When an engine has got over a trouble, and when it only says so."""

from runner.engines.engine_events import Error, Result, Said, ToolUse
from runner.engines.output_reader import OutputReader, Report
from runner.engines.row import Row

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
