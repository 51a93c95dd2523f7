"""What an agent says of its task is its last word, wherever that stands."""

from runner.engines import ENGINES
from runner.engines.output_reader import OutputReader
from tests.world.cases import looped


def ended(*lines: str, name: str = "shell", exit_code: int = 0) -> tuple[object, str]:
    hearing = OutputReader(ENGINES[name], lambda _: None)
    for line in lines:
        hearing.feed("out", f"{line}\n")
    hearing.close("")
    report = hearing.report(exit_code)
    return report.status, report.summary


@looped(
    ("line", "status", "summary"),
    [
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
    ],
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
