from auth import tokens
from auth.login import Response, User, digest_of, login

KEY = b"a key"
NOW = 1_000_000
USERS = {"ada": User("editor", b"salt", digest_of("difference engine", b"salt"))}


def ask(name: str, password: str) -> Response:
    return login(name, password, users=USERS, key=KEY, now=NOW)


def test_the_right_password_gets_a_token() -> None:
    answer = ask("ada", "difference engine")

    assert answer.status == 200
    assert tokens.read(answer.body["token"], key=KEY, now=NOW).role == "editor"


def test_a_wrong_password_gets_none() -> None:
    assert ask("ada", "analytical engine").status == 401


def test_a_stranger_does_not_learn_which_names_exist() -> None:
    assert ask("bob", "difference engine") == ask("ada", "analytical engine")
