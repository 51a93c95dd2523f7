"""What is told of CI's text: its last whole lines, as they were written."""

from bot.text.merge_texts import TEXT_CHARS, ci_is_red, end_of


def test_a_short_text_is_told_as_it_is() -> None:
    assert end_of("unit: failure\n\n  assert 1 == 2\n") == (
        "unit: failure\n\n  assert 1 == 2\n"
    )
    assert ci_is_red("a" * 40, "two\n") == "CI is red on aaaaaaaaaa: two"


def test_what_failed_comes_before_the_text() -> None:
    text = "FAILED tests/test_a.py::test_b - no\n1 failed in 0.1s\n"

    assert ci_is_red("a" * 40, text) == (
        f"CI is red on aaaaaaaaaa: tests/test_a.py::test_b\n\n{text}"
    )


def test_a_long_text_begins_with_a_whole_line() -> None:
    lines = [f"{number:>8} of many lines" for number in range(1_000)]

    told = end_of("\n".join(lines)).split("\n")

    assert len("\n".join(told)) <= TEXT_CHARS
    assert told == lines[-len(told) :]


def test_a_line_that_is_too_long_is_cut() -> None:
    assert end_of("a" * (TEXT_CHARS + 5)) == "a" * TEXT_CHARS
