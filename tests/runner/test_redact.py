from hypothesis import given, settings, strategies as st

from convoy.text import Redaction
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


def test_what_looks_like_a_token_is_hidden() -> None:
    for token in (
        "ghp_" + "a" * 36,
        "github_pat_" + "A1_" * 10,
        "sk-ant-api03-" + "x" * 40,
        "AKIA" + "A1B2" * 4,
        "xoxb-123456789012-abc",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM",
    ):
        assert redaction(f"a {token} b") == "a *** b"


def test_ordinary_words_stay() -> None:
    text = "short task-list risk-assessment-of-the-whole-thing 0123456789abcdef" * 3

    assert redaction(text) == text


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    assert Redaction(["12345678", "1234567890"])("1234567890") == "***"
