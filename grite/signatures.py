"""Signatures on commits: their form, who may sign, and what a signed commit says.

The form is git's own SSH signature, in the one way that brat writes it: Ed25519, in the
commit's `gpgsig` header, so `git verify-commit` reads it. Everything that Ed25519 or
the armor leaves open is fixed here, so the same commit, key and text give the same id,
and a signature in any other form is none. Keys here are public; who signs hands in a
`Sign`.
https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
https://git-scm.com/docs/gitformat-signature

Which keys may sign stands in OpenSSH's own form, a key a line:

    brat namespaces="git",valid-before="20270101Z" ssh-ed25519 AAAA... of the first bot

git reads the same file (`gpg.ssh.allowedSignersFile`). What brat cannot enforce is
refused, never skipped: other kinds of key, certificates, options it does not know.
https://man.openbsd.org/ssh-keygen.1#ALLOWED_SIGNERS

A commit of the log, a checkpoint or a lock counts if an allowed key signed it and it
names this repository. It vouches for the chain below it, but for the foreign commits
that it lists: a reader checks one signature, the newest. Commits of another kind,
repository or key vouch for nothing.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from grite.errors import BratError

KEY_TYPE: Final = b"ssh-ed25519"
KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_MAGIC: Final = b"SSHSIG"
_VERSION: Final = (1).to_bytes(4)
_NAMESPACE: Final = b"git"
_HASH: Final = b"sha512"
_BEGIN: Final = "-----BEGIN SSH SIGNATURE-----\n"
_END: Final = "-----END SSH SIGNATURE-----"
_ARMOR_LINE: Final = 70
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
    lines = (
        text[at : at + _ARMOR_LINE] + "\n" for at in range(0, len(text), _ARMOR_LINE)
    )
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

    The commit is all of its bytes, as `git cat-file commit` prints them.
    """
    head, _, message = commit.partition(b"\n\n")
    before, _, armor = head.partition(_HEADER)
    inside = armor.replace(b"\n ", b"\n").removeprefix(_BEGIN.encode())
    try:
        blob = base64.b64decode(inside.removesuffix(_END.encode()))
    except ValueError:
        return None
    if len(blob) != _BLOB_BYTES:
        return None
    public = blob[_KEY_AT : _KEY_AT + KEY_BYTES]
    signature = blob[_SIGNATURE_AT:]
    # Any other form of the same signature would give the same commit another id.
    if armored(public, signature).encode().replace(b"\n", b"\n ") != armor:
        return None
    # 25 ms to load, and most commands verify nothing.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    text = signed_text(before + b"\n\n" + message)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return None
    return public


SIGNERS_FILE: Final = ".brat/allowed_signers"
"""Where a repository's default branch has it."""
BOT_SIGNERS_FILE: Final = "log_key.allowed_signers"
"""The file in a bot's folder with the line of its own key."""
MOST_SIGNERS_BYTES: Final = 64 * 1024
_SIGNER_LINE: Final = re.compile(
    r'(?P<who>"[^"]*"|[^\s"]+)'
    r'(?:[ \t]+(?P<options>(?:[\w-]+(?:="[^"]*")?)(?:,[\w-]+(?:="[^"]*")?)*))??'
    r"[ \t]+(?P<type>[a-z][\w@.-]*)[ \t]+(?P<key>[A-Za-z0-9+/]+={0,2})(?:[ \t].*)?"
)
_OPTION: Final = re.compile(r'([\w-]+)(?:="([^"]*)")?')
_FORMS: Final = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_KEY_PREFIX: Final = key_blob(bytes(KEY_BYTES))[:-KEY_BYTES]


class Signer(Struct, frozen=True):
    public: bytes
    """The raw Ed25519 key, 32 bytes."""
    after: int | None = None
    """Unix seconds; signatures dated earlier do not count."""
    before: int | None = None
    """Unix seconds; signatures dated later do not count."""
    for_git: bool = True
    """Whether its namespaces include git's."""


class AllowedSigners(Struct, frozen=True):
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
        return AllowedSigners((*self.signers, *other.signers))


def signer_line(public: bytes, comment: str) -> str:
    """Return the line that allows a key to sign commits."""
    key = base64.b64encode(key_blob(public)).decode()
    return f'brat namespaces="git" {KEY_TYPE.decode()} {key} {comment}\n'


def only_signer(public: bytes) -> AllowedSigners:
    """Return the signers of a repository where one key signs."""
    return AllowedSigners((Signer(public),))


def open_seed(repository: str) -> bytes:
    """Return the private key of a log that has none of its own; it is no secret.

    It follows from the repository's id, so everybody can make it, and a log signed by
    it is as trustworthy as the people who may push.
    """
    return hashlib.sha256(f"the open log of repository {repository}".encode()).digest()


def open_signer(repository: str) -> AllowedSigners:
    """Return the public half of the same key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(open_seed(repository))
    return only_signer(private.public_key().public_bytes_raw())


def parse_signers(text: str) -> AllowedSigners:
    """Return the keys in a file's text.

    Raises `BratError`: a line has another form; one sentence names it and what is
    allowed.
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
    found = _SIGNER_LINE.fullmatch(row)
    if found is None:
        raise _wrong(number, "it is not `PRINCIPAL [OPTIONS] ssh-ed25519 KEY`")
    if found["type"] != KEY_TYPE.decode():
        raise _wrong(number, f"the key type must be ssh-ed25519, not {found['type']}")
    try:
        blob = base64.b64decode(found["key"], validate=True)
    except ValueError:
        blob = b""
    if len(blob) != len(_KEY_PREFIX) + KEY_BYTES or not blob.startswith(_KEY_PREFIX):
        raise _wrong(number, "the text after ssh-ed25519 is not a valid key")
    options = dict(_OPTION.findall(found["options"] or ""))
    unknown = options.keys() - {"namespaces", "valid-after", "valid-before"}
    if unknown:
        raise _wrong(
            number,
            f"the option {min(unknown)} is not one of namespaces, valid-after, "
            "valid-before",
        )
    return Signer(
        blob[len(_KEY_PREFIX) :],
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
            number, f"{said!r} is not a time such as 20270131Z or 20270131235959Z"
        ) from None
    return int(time.timestamp())


def _wrong(number: int, why: str) -> BratError:
    return BratError(f"line {number} of the allowed signers: {why}")


ENTRY: Final = "WAL: "
CHECKPOINT: Final = "Checkpoint at "
LOCK: Final = "Lock: "
"""How the messages of signed commits begin; none of them passes for another."""
REPOSITORY_ID: Final = "Repository-Id: "
FOREIGN: Final = "Foreign: "
_FOREIGN: Final = re.compile(rb"^Foreign: ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)
_DATE: Final = re.compile(rb"\ncommitter [^\n]* (\d{1,12}) [+-]\d{4}(?:\n|$)")


class Authority(Struct, frozen=True):
    """Whose signatures count in a repository."""

    repository: str
    """The forge's id of the repository, digits; a rename keeps it.

    Empty: the id is unknown and every id is accepted; only for reading.
    """
    signers: AllowedSigners

    def fault(self, commit: bytes, kind: str) -> str:
        """Return why a commit (all of its bytes) does not count; empty: it does.

        Its message has to begin with the kind: `ENTRY`, `CHECKPOINT` or `LOCK`.
        """
        head, _, message = commit.partition(b"\n\n")
        if not is_signed(commit):
            return "it is not signed"
        subject, _, trailers = message.partition(b"\n\n")
        if not subject.startswith(kind.encode()):
            return f"its message does not begin with {kind.strip()}"
        named = trailers.partition(b"\n")[0].decode(errors="replace")
        wanted = REPOSITORY_ID + self.repository
        if named != wanted and (self.repository or not named.startswith(wanted)):
            return (
                f"it is for another repository, not {self.repository}: {named[:60]!r}"
            )
        public, date = signer_of(commit), _DATE.search(head)
        if public is None or date is None:
            return "its signature is not valid"
        if not self.signers.allows(public, int(date[1])):
            return f"the key that signed it is not allowed: {fingerprint(public)}"
        return ""


class Writer(Struct, frozen=True):
    """Who writes the log: for which repository, and by which key."""

    repository: str
    sign: Sign


def signed_message(subject: str, repository: str, trailers: Sequence[str] = ()) -> str:
    """Return the message of a commit that vouches for the chain below it.

    The trailers follow the line that names the repository. Raises `ValueError`: the
    subject has several lines, or the id is none.
    """
    if "\n" in subject or re.fullmatch(r"[0-9]+", repository) is None:
        raise ValueError(f"{subject!r} in repository {repository!r} cannot be signed")
    return "\n".join((subject, "", REPOSITORY_ID + repository, *trailers))


def foreign_lines(commits: Sequence[str]) -> tuple[str, ...]:
    """Return the trailers by which a commit says that others count for nothing."""
    return tuple(FOREIGN + commit for commit in commits)


def foreign_in(commit: bytes) -> tuple[str, ...]:
    """Return the commits that a signed commit lists as foreign; not verified here."""
    if b"\nForeign: " not in commit or not is_signed(commit):
        return ()
    return tuple(found.decode() for found in _FOREIGN.findall(commit))
