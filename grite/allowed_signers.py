"""Which keys may sign the log, in OpenSSH's own form, a key a line.

    brat namespaces="git",valid-before="20270101Z" ssh-ed25519 AAAA... of the first bot

git reads the same file (`gpg.ssh.allowedSignersFile`). What brat cannot enforce is
refused, never skipped: other kinds of key, certificates, options it does not know.
https://man.openbsd.org/ssh-keygen.1#ALLOWED_SIGNERS
"""

import base64
import re
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from grite.commit_signature import KEY_BYTES, KEY_TYPE, key_blob
from grite.errors import BratError

FILE: Final = ".brat/allowed_signers"
"""Where a repository's default branch has it."""
OF_A_BOT: Final = "log_key.allowed_signers"
"""The file in a bot's folder with the line of its own key."""
MOST_BYTES: Final = 64 * 1024
_LINE: Final = re.compile(
    r'(?P<who>"[^"]*"|[^\s"]+)'
    r'(?:[ \t]+(?P<options>(?:[\w-]+(?:="[^"]*")?)(?:,[\w-]+(?:="[^"]*")?)*))??'
    r"[ \t]+(?P<type>[a-z][\w@.-]*)[ \t]+(?P<key>[A-Za-z0-9+/]+={0,2})(?:[ \t].*)?"
)
_OPTION: Final = re.compile(r'([\w-]+)(?:="([^"]*)")?')
_FORMS: Final = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_PREFIX: Final = key_blob(bytes(KEY_BYTES))[:-KEY_BYTES]


class Signer(Struct, frozen=True):
    """One key that may sign, and when."""

    public: bytes
    """The raw Ed25519 key, 32 bytes."""
    after: int | None = None
    """Unix seconds; signatures dated earlier do not count."""
    before: int | None = None
    """Unix seconds; signatures dated later do not count."""
    for_git: bool = True
    """Whether its namespaces include git's."""


class AllowedSigners(Struct, frozen=True):
    """The keys whose signatures count."""

    signers: tuple[Signer, ...] = ()

    def allows(self, public: bytes, date: int) -> bool:
        """Whether a key may have signed a commit of this date (unix seconds).

        The date is the committer's own, so it serves orderly rotation only: a stolen
        key has to be removed.
        """
        return any(
            signer.public == public
            and signer.for_git
            and (signer.after is None or date >= signer.after)
            and (signer.before is None or date <= signer.before)
            for signer in self.signers
        )

    def __or__(self, other: "AllowedSigners") -> "AllowedSigners":
        """Return the keys of both."""
        return AllowedSigners((*self.signers, *other.signers))


def line(public: bytes, comment: str) -> str:
    """Return the line that allows a key to sign commits."""
    key = base64.b64encode(key_blob(public)).decode()
    return f'brat namespaces="git" {KEY_TYPE.decode()} {key} {comment}\n'


def only(public: bytes) -> AllowedSigners:
    """Return the signers of a repository where one key signs."""
    return AllowedSigners((Signer(public),))


def parse(text: str) -> AllowedSigners:
    """Return the keys in a file's text.

    Raises:
        BratError: a line has another form; one sentence names it and what is allowed.
    """
    rows = enumerate(text.splitlines(), start=1)
    return AllowedSigners(
        tuple(
            _signer(number, row.strip())
            for number, row in rows
            if row.strip() and not row.lstrip().startswith("#")
        )
    )


def _signer(number: int, row: str) -> Signer:
    found = _LINE.fullmatch(row)
    if found is None:
        raise _wrong(number, "it is not `PRINCIPAL [OPTIONS] ssh-ed25519 KEY`")
    if found["type"] != KEY_TYPE.decode():
        raise _wrong(number, f"a key is of the type ssh-ed25519, not {found['type']}")
    try:
        blob = base64.b64decode(found["key"], validate=True)
    except ValueError:
        blob = b""
    if len(blob) != len(_PREFIX) + KEY_BYTES or not blob.startswith(_PREFIX):
        raise _wrong(number, "the text after ssh-ed25519 is no such key")
    options = dict(_OPTION.findall(found["options"] or ""))
    unknown = options.keys() - {"namespaces", "valid-after", "valid-before"}
    if unknown:
        raise _wrong(
            number,
            f"the option {min(unknown)} is not one of namespaces, valid-after, "
            "valid-before",
        )
    return Signer(
        blob[len(_PREFIX) :],
        after=_time(number, options.get("valid-after")),
        before=_time(number, options.get("valid-before")),
        for_git=not {"git", "*"}.isdisjoint(options.get("namespaces", "*").split(",")),
    )


def _time(number: int, said: str | None) -> int | None:
    """Return a time in unix seconds; without its Z it is read as UTC all the same."""
    if said is None:
        return None
    digits = said.removesuffix("Z")
    try:
        time = datetime.strptime(digits, _FORMS[len(digits)]).replace(tzinfo=UTC)
    except (KeyError, ValueError):
        raise _wrong(
            number, f"{said!r} is no time such as 20270131Z or 20270131235959Z"
        ) from None
    return int(time.timestamp())


def _wrong(number: int, why: str) -> BratError:
    return BratError(f"line {number} of the allowed signers: {why}")
