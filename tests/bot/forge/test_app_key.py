"""An App's private key: it signs, and nothing shows it."""

from collections.abc import Iterator

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from bot.forge.app_auth import AppJwt, AppKey, AppTokens, Grant
from bot.forge.pace import ForgeClock
from grite.errors import BratError
from tests.world.app_key import pair
from tests.world.cases import looped
from tests.world.hand import NOON, HandTime


async def test_what_is_signed_begins_earlier_and_lasts_ten_minutes(
    hand: HandTime,
) -> None:
    private, public = pair()
    source = AppJwt(AppKey.from_pem("Iv1.x", private), ForgeClock(hand.time))

    said = jwt.decode(
        await source.token(),
        public,
        algorithms=["RS256"],
        options={"verify_exp": False},
    )

    assert said == {"iat": NOON - 60, "exp": NOON + 540, "iss": "Iv1.x"}


async def test_nothing_shows_the_key(client: httpx.AsyncClient) -> None:
    private, _ = pair()
    key = AppKey.from_pem("Iv1.x", private)
    tokens = AppTokens(
        client, api_url="https://x", app=key, grant=Grant(repository="octo/project")
    )
    number = str(key.private_key.private_numbers().d)

    shown = f"{key!r} {key} {tokens!r} {vars(tokens)} {vars(tokens).values()}"

    assert "PRIVATE" not in shown
    assert number not in shown
    assert private.splitlines()[1] not in shown


def unfit() -> Iterator[str]:
    private, public = pair()
    yield from ("", "no key", public, private[:200])
    yield (
        ec.generate_private_key(ec.SECP256R1())
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        .decode()
    )
    yield (
        load_pem_private_key(private.encode(), None)
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
        .decode()
    )


@looped("pem", [*unfit()], ids=range(6))
def test_a_file_that_is_no_key_is_said_and_not_quoted(pem: str) -> None:
    with pytest.raises(BratError) as error:
        AppKey.from_pem("Iv1.x", pem)

    assert str(error.value) == (
        "the private key of the App Iv1.x cannot be read: it must be the .pem file "
        "that was downloaded from the App's settings"
    )
