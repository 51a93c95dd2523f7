"""An App's key pair, made once for all tests."""

from functools import cache

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from tests.world.given_secrets import given


def pair(name: str = "brat") -> tuple[str, str]:
    """Return a private and a public key in PEM; another `name`, another pair."""
    private, public = _made(name)
    return given(private), public


@cache
def _made(_: str) -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )
    public = key.public_key().public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()
