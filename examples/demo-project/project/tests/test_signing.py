import pytest

from auth.signing import Forged, seal, unseal

KEY = b"a key"


def test_claims_come_back_as_they_were() -> None:
    assert unseal(seal({"sub": "ada"}, KEY), KEY) == {"sub": "ada"}


def test_another_key_is_noticed() -> None:
    with pytest.raises(Forged):
        unseal(seal({"sub": "ada"}, KEY), b"another")


def test_text_that_is_no_token_is_refused() -> None:
    with pytest.raises(Forged):
        unseal("hello", KEY)


def test_a_signature_that_was_cut_off_is_refused() -> None:
    token = seal({"sub": "ada"}, KEY)

    for cut in (1, 20, 43):
        with pytest.raises(Forged):
            unseal(token[:-cut], KEY)
