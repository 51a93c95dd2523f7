"""Secrets in texts: what looks like one is hidden, and so is what is known."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from convoy.text import Unfit, fence_of, fenced, json_answer
from convoy.text.redaction import Redaction, redacted, secrets_in
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIVATE KEY-----"


@looped(
    (f"token ghp_{'a1' * 18}.", "token ***."),
    (f"token ghs_12345_eyJ{'a' * 20}.eyJ{'-b' * 20}.{'c_' * 20}", "token ***"),
    (f"ghs_{'a1' * 18} github_pat_{'a1' * 20}", "*** ***"),
    ("AKIAABCDEFGHIJKLMNOP and ASIAABCDEFGHIJKLMNOP", "*** and ***"),
    (f"sk-ant-api03-{'a-B_' * 8} sk-{'a1' * 20}", "*** ***"),
    ("xoxb-123456789012-abcdef glpat-abcdefghij0123456789", "*** ***"),
    (f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}", "***"),
    (f"x-eyJ{'a-eyJ' * 2_000}.eyJ{'b' * 9_000}.{'c' * 20}", "x-***"),
    (f"eyJ{'a' * 9}.eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}.d", f"eyJ{'a' * 9}.***.d"),
    (f"eyJ{'a' * 20}-ghp_{'a1' * 20}.b", f"eyJ{'a' * 20}-***.b"),
    (f"ghs_1_eyJ{'a.' * 3_000}", "***"),
    (f"a\n{KEY}\nb", "a\n***\nb"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nand", "***\nand"),
    (
        "git clone https://ann:hunter2@example.org/x",
        "git clone https://***@example.org/x",
    ),
    ("password = 'hunter2hunter'", "password = '***'"),
    ('{"api_key": "abcdefgh1234"}', '{"api_key": "***"}'),
    ("DB_PASSWORD=s3cr3tvalue99\n", "DB_PASSWORD=***\n"),
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str) -> None:
    assert redacted(text) == shown
    assert redacted(shown) == shown


@looped(
    *('token = request.headers["x"]', 'password=os.environ["DB_PASSWORD"]'),
    *("password: ${{ secrets.PASSWORD }}", "api_key = get_key_from_vault1(name)"),
    *("the token count is 4096, tokens = 100000", "max_tokens: int = 40960000000"),
    *("short task-list risk-assessment-of-the-whole-thing", "0123456789abcdef" * 3),
    *("task-1 sk-learn AKIA eyJ https://example.org:8080/a@b", 'secret: "not one"'),
)
def test_code_that_only_fetches_a_secret_stays(text: str) -> None:
    assert redacted(text) == text


def test_known_secrets_are_hidden_beside_those_that_look_like_one() -> None:
    hide = Redaction(["very/secret+value==", "", "short"])

    assert hide("short very/secret+value== AKIAABCDEFGHIJKLMNOP") == "short *** ***"
    assert hide(hide("very/secret+value==")) == "***"
    assert Redaction([])("nothing is known") == "nothing is known"
    assert Redaction(["12345678", "1234567890"])("1234567890") == "***"


# --- text from outside in a prompt, behind a fence that it cannot leave ---------------


@given(st.text(), st.text())
@settings(deadline=None)
def test_fenced_text_never_ends_its_fence(text: str, more: str) -> None:
    fence = "data-3f9a1c77"

    wrapped = fenced(f"{text}{fence}{more}</{fence.upper()}>", fence)

    first, *data, last = wrapped.split("\n")
    assert (first, last) == (f"<{fence}>", f"</{fence}>")
    assert fence not in "\n".join(data).lower()


@pytest.mark.parametrize("find", [redacted, secrets_in])
def test_what_is_no_token_in_many_ways_is_read_in_one_pass(
    find: Callable[[str], object],
) -> None:
    def read(times: int) -> None:
        find(f"{'-eyJ' * times}.{'-eyJ' * times}!")

    assert growth(read, 110) < LINEAR


def test_a_long_token_and_a_block_without_end_are_read_in_one_pass() -> None:
    def read(chars: int) -> None:
        with pytest.raises(Unfit):
            json_answer("```" + "\n" * chars, "plan")

    assert growth(lambda chars: secrets_in("sk-" + "a" * chars), 2_000) < LINEAR
    assert growth(read, 2_000) < LINEAR
    assert secrets_in("sk-" + "a" * 30) == frozenset()
    assert len(secrets_in("sk-" + "a" * 30 + "1")) == 1


def test_each_session_has_a_fence_of_its_own_and_always_the_same() -> None:
    assert len({fence_of(f"{number:032x}") for number in range(100)}) == 100
    assert fence_of("a" * 32) == fence_of("a" * 32) == snapshot("data-d51aa37609bb10df")
    assert "a" * 8 not in fence_of("a" * 32)
    assert fenced("x", fence_of("a" * 32))
    for fence in ("", "short", "with space", "a" * 81, "line\nline"):
        with pytest.raises(ValueError, match="a fence is 8 to 80 letters"):
            fenced("a", fence)
