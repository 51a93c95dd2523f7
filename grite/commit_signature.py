"""git's own SSH signatures on commits, in the one form that brat writes: Ed25519.

The signature stands in the commit's `gpgsig` header, so `git verify-commit` reads it.
Everything that Ed25519 or the armor leaves open is fixed here, so the same commit, key
and text give the same id, and a signature in any other form is none. Keys here are
public; who signs hands in a `Sign`.
https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
https://git-scm.com/docs/gitformat-signature
"""

import base64
import hashlib
from collections.abc import Callable
from typing import Final

KEY_TYPE: Final = b"ssh-ed25519"
KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_MAGIC: Final = b"SSHSIG"
_VERSION: Final = (1).to_bytes(4)
_NAMESPACE: Final = b"git"
_HASH: Final = b"sha512"
_BEGIN: Final = "-----BEGIN SSH SIGNATURE-----\n"
_END: Final = "-----END SSH SIGNATURE-----"
_LINE: Final = 70
_HEADER: Final = b"\ngpgsig "

Sign = Callable[[bytes], str]
"""Takes a commit without its signature and returns `armored` over it."""


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


_PUBLIC_FIELD: Final = _field(KEY_TYPE)
_TEXT: Final = _field(_NAMESPACE) + _field(b"") + _field(_HASH)


def key_blob(public: bytes) -> bytes:
    """Return a public key in the form that OpenSSH encodes in base64."""
    return _PUBLIC_FIELD + _field(public)


def fingerprint(public: bytes) -> str:
    """Return a public key's fingerprint, as `ssh-keygen -l` and git print it."""
    digest = hashlib.sha256(key_blob(public)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def signed_text(payload: bytes) -> bytes:
    """Return what the key itself signs for a commit without its signature."""
    return _MAGIC + _TEXT + _field(hashlib.sha512(payload).digest())


def armored(public: bytes, signature: bytes) -> str:
    """Return a raw Ed25519 signature of `signed_text` in OpenSSH's armor."""
    blob = _PREFIX + public + _MIDDLE + signature
    text = base64.b64encode(blob).decode()
    lines = (text[at : at + _LINE] + "\n" for at in range(0, len(text), _LINE))
    return f"{_BEGIN}{''.join(lines)}{_END}"


_PREFIX: Final = (
    _MAGIC
    + _VERSION
    + len(key_blob(bytes(KEY_BYTES))).to_bytes(4)
    + _PUBLIC_FIELD
    + KEY_BYTES.to_bytes(4)
)
_MIDDLE: Final = (
    _TEXT
    + len(_PUBLIC_FIELD + _field(bytes(_SIGNATURE_BYTES))).to_bytes(4)
    + _PUBLIC_FIELD
    + _SIGNATURE_BYTES.to_bytes(4)
)
_KEY_AT: Final = len(_PREFIX)
_SIGNATURE_AT: Final = _KEY_AT + KEY_BYTES + len(_MIDDLE)
_BLOB_BYTES: Final = _SIGNATURE_AT + _SIGNATURE_BYTES


def with_signature(payload: bytes, armor: str) -> bytes:
    """Return a commit with the signature as the last line of its head."""
    head, blank, message = payload.partition(b"\n\n")
    lines = armor.encode().replace(b"\n", b"\n ")
    return head + _HEADER + lines + blank + message


def is_signed(commit: bytes) -> bool:
    """Whether a commit's head has a `gpgsig` at all, good or not."""
    return _HEADER in commit[: commit.find(b"\n\n") + 1]


def signer_of(commit: bytes) -> bytes | None:
    """Return the public key that signed a commit; None: it has no valid signature.

    Args:
        commit: all of the commit's bytes, as `git cat-file commit` prints them.
    """
    head, _, message = commit.partition(b"\n\n")
    before, _, armor = head.partition(_HEADER)
    blob = _blob_of(armor.replace(b"\n ", b"\n"))
    if blob is None:
        return None
    public = blob[_KEY_AT : _KEY_AT + KEY_BYTES]
    signature = blob[_SIGNATURE_AT:]
    # Any other form of the same signature would give the same commit another id.
    if armored(public, signature).encode().replace(b"\n", b"\n ") != armor:
        return None
    payload = before + b"\n\n" + message
    return public if _verifies(public, signature, signed_text(payload)) else None


def _blob_of(armor: bytes) -> bytes | None:
    inside = armor.removeprefix(_BEGIN.encode()).removesuffix(_END.encode())
    try:
        blob = base64.b64decode(inside)
    except ValueError:
        return None
    return blob if len(blob) == _BLOB_BYTES else None


def _verifies(public: bytes, signature: bytes, text: bytes) -> bool:
    # 25 ms to load, and most commands verify nothing.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True
