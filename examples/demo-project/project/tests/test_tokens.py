import pytest

from auth import tokens

KEY = b"a key"
NOW = 1_000_000


def test_a_token_says_whose_it_is() -> None:
    token = tokens.issue("ada", "editor", key=KEY, now=NOW)

    claims = tokens.read(token, key=KEY, now=NOW)

    assert (claims.user, claims.role) == ("ada", "editor")


def test_a_token_lives_for_a_quarter_of_an_hour() -> None:
    token = tokens.issue("ada", "editor", key=KEY, now=NOW)

    assert tokens.read(token, key=KEY, now=NOW + 899).expires == NOW + 900


def test_an_old_token_is_refused() -> None:
    token = tokens.issue("ada", "editor", key=KEY, now=NOW)

    with pytest.raises(tokens.Expired):
        tokens.read(token, key=KEY, now=NOW + 900)
