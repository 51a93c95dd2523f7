import pytest

from auth import tokens
from auth.middleware import Denied, authenticate

KEY = b"a key"
NOW = 1_000_000


def header(scheme: str) -> dict[str, str]:
    token = tokens.issue("ada", "editor", key=KEY, now=NOW)
    return {"Authorization": f"{scheme} {token}"}


def test_a_good_token_says_who_sends_the_request() -> None:
    sender = authenticate(header("Bearer"), key=KEY, now=NOW)

    assert isinstance(sender, tokens.Claims)
    assert sender.user == "ada"


def test_the_case_of_the_scheme_does_not_matter() -> None:
    assert isinstance(authenticate(header("bearer"), key=KEY, now=NOW), tokens.Claims)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": ""}, {"Authorization": "Basic YTpi"}]
)
def test_a_request_without_a_token_is_denied(headers: dict[str, str]) -> None:
    assert authenticate(headers, key=KEY, now=NOW) == Denied("no bearer token")


def test_a_token_of_somebody_else_is_denied() -> None:
    sender = authenticate(header("Bearer"), key=b"another", now=NOW)

    assert sender == Denied("the token is not ours")


def test_an_old_token_is_denied() -> None:
    sender = authenticate(header("Bearer"), key=KEY, now=NOW + 900)

    assert sender == Denied("the token has expired")
