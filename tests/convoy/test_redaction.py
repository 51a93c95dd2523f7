"""Secrets in texts: what looks like one is hidden, and so is what is known."""

from hypothesis import given, settings, strategies as st

from convoy.text import Redaction, redacted
from tests.world.cases import looped

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIVATE KEY-----"


@looped(
    (f"token ghp_{'a1' * 18}.", "token ***."),
    (f"ghs_{'a1' * 18} github_pat_{'a1' * 20}", "*** ***"),
    ("AKIAABCDEFGHIJKLMNOP and ASIAABCDEFGHIJKLMNOP", "*** and ***"),
    (f"sk-ant-api03-{'a-B_' * 8} sk-{'a1' * 20}", "*** ***"),
    ("xoxb-123456789012-abcdef glpat-abcdefghij0123456789", "*** ***"),
    (f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}", "***"),
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


@given(
    st.text()
    | st.lists(st.sampled_from([KEY, "password", "=", '"', "sk-", "a1" * 9])).map(
        "".join
    )
)
@settings(deadline=None)
def test_hiding_twice_is_hiding_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


def test_known_secrets_are_hidden_beside_those_that_look_like_one() -> None:
    hide = Redaction(["very/secret+value==", "", "short"])

    assert hide("short very/secret+value== AKIAABCDEFGHIJKLMNOP") == "short *** ***"
    assert hide(hide("very/secret+value==")) == "***"
    assert Redaction([])("nothing is known") == "nothing is known"
    assert Redaction(["12345678", "1234567890"])("1234567890") == "***"
