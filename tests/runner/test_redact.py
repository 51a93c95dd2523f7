from hypothesis import given, settings, strategies as st

from convoy.text.redaction import Redaction
from runner.session.result_folder import HELD_BACK_CHARS, LINE_CHARS, RedactedStream

SECRET = "very/secret+value=="
redaction = Redaction([SECRET, "", "short"])


def shown(data: bytes, cuts: list[int]) -> str:
    redacted = RedactedStream(redaction)
    at, text = 0, ""
    for cut in sorted(min(cut, len(data)) for cut in cuts):
        text += redacted.feed(data[at:cut])
        at = cut
    return text + redacted.feed(data[at:]) + redacted.close()


@given(
    st.lists(st.sampled_from([SECRET, SECRET[:7], "ä", "\n", "x", "\r\n", " "])),
    st.lists(st.integers(0, 200)),
)
def test_it_does_not_matter_where_the_output_was_cut(
    parts: list[str], cuts: list[int]
) -> None:
    text = "".join(parts)

    assert shown(text.encode(), cuts) == text.replace(SECRET, "***")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3 * LINE_CHARS), max_size=40))
def test_a_secret_in_an_endless_line_is_hidden_too(cuts: list[int]) -> None:
    text = ("x" * (LINE_CHARS - 5) + SECRET) * 2 + "y" * HELD_BACK_CHARS

    assert shown(text.encode(), cuts) == text.replace(SECRET, "***")
