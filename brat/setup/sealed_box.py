"""Seals a secret so that only the forge can read it.

https://docs.github.com/rest/guides/encrypting-secrets-for-the-rest-api
"""

import base64

from nacl.public import PublicKey, SealedBox

from bot.forge.payloads import Payload
from bot.forge.rest import Rest


class _Key(Payload):
    key_id: str
    key: str


async def store(rest: Rest, secrets: str, name: str, value: str) -> None:
    """Store a secret; one of that name is replaced.

    Args:
        rest: a client with the person's token.
        secrets: the address of the secrets among which it is.
        name: the secret's name.
        value: what only the forge may read.
    """
    key = await rest.read(_Key, f"{secrets}/public-key")
    box = SealedBox(PublicKey(base64.b64decode(key.key)))
    sealed = base64.b64encode(box.encrypt(value.encode())).decode()
    asked = {"encrypted_value": sealed, "key_id": key.key_id}
    await rest.write("PUT", f"{secrets}/{name}", asked)
