"""Artifacts as a runner leaves them, and as nobody honest would."""

import io
import json
import zipfile
from typing import TypedDict

import pytest

from bot.roles import result_artifact
from bot.roles.result_artifact import ResultArtifact, Unacceptable
from convoy.events import Claim, Event
from convoy.events.session_events import SessionSpawned
from convoy.log import body_of
from convoy.model import ids
from grite import chunk
from grite.event import CommentAdded, Event as GriteEvent

CONVOY, TASK, ATTEMPT = "fix-7", 2, 1
SESSION = ids.session_name(CONVOY, TASK, ATTEMPT)
NONCE = "n0nce"
ACTOR = bytes(range(16))
COMMIT = "c" * 40
ISSUE = ids.issue_of(CONVOY, TASK)
BUNDLE = ("work.bundle", b"# v2 git bundle\n")


class Who(TypedDict):
    convoy: str
    task: int
    attempt: int


WHO: Who = {"convoy": CONVOY, "task": TASK, "attempt": ATTEMPT}
UP = SessionSpawned(**WHO)

_CENTRAL, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"


def result(**given: object) -> bytes:
    """Return a result.json; what is given as `...` is left out."""
    fields: dict[str, object] = {
        "v": 1,
        "session": SESSION,
        "nonce": NONCE,
        "conclusion": "success",
        "why": "Changed 1 file.",
        "summary": "All done.",
        "base": "b" * 40,
        "commit": None,
        **given,
    }
    kept = {name: value for name, value in fields.items() if value is not ...}
    return json.dumps(kept).encode()


def claim(
    fact: Event | Claim = UP, *, actor: bytes = ACTOR, issue: bytes = ISSUE
) -> GriteEvent:
    return GriteEvent(issue, actor, 5, CommentAdded(body_of(fact, fact.sentence())))


def events(*told: GriteEvent) -> bytes:
    return chunk.encode(told)


def zipped(
    *files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, extra: bytes = b""
) -> bytes:
    """Return an archive of files, each with the same extra field in its list."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
            archive.infolist()[-1].extra = extra
    return held.getvalue()


def artifact(*more: tuple[str, bytes], **given: object) -> bytes:
    """Return an artifact with a result.json of these fields, and more files."""
    return zipped(("result.json", result(**given)), *more)


def good() -> bytes:
    """Return an artifact with work and a claim."""
    return artifact(BUNDLE, ("events.bin", events(claim())), commit=COMMIT)


def taken(data: bytes) -> ResultArtifact:
    """Return what is in an artifact; its files are gone by then."""
    with result_artifact.opened(
        data, session=SESSION, nonce=NONCE, actor=ACTOR.hex()
    ) as parcel:
        return parcel


def why(data: bytes) -> str:
    """Return why an artifact is refused: one line."""
    with pytest.raises(Unacceptable) as refused:
        taken(data)
    said = str(refused.value)
    assert "\n" not in said
    return said


def lying(data: bytes, number: int, size: int) -> bytes:
    """Return the zip with the unpacked size of one entry made up, in both headers."""
    out = bytearray(data)
    for mark, offset in ((_CENTRAL, 24), (_LOCAL, 22)):
        at = _nth(data, mark, number) + offset
        out[at : at + 4] = size.to_bytes(4, "little")
    return bytes(out)


def encrypted(data: bytes) -> bytes:
    """Return the zip with its first entry marked as encrypted."""
    out = bytearray(data)
    for mark, offset in ((_CENTRAL, 8), (_LOCAL, 6)):
        out[data.index(mark) + offset] |= 1
    return bytes(out)


def _nth(data: bytes, mark: bytes, number: int) -> int:
    at = -1
    for _ in range(number + 1):
        at = data.index(mark, at + 1)
    return at
