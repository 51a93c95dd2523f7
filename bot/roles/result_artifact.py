"""Reads a run's artifact as hostile: sizes, names, schema, then git.

Every part is checked: the zip's names and sizes before it is unpacked, the result by
its schema and against its attempt, the session's events by id and actor, the commits by
git's own fsck and the patch gate.
"""

import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from bot.forge.rest import Refused
from bot.roles.bot_context import BotContext
from convoy.events import Claim
from convoy.log.record import UnknownFact, fact_of, issue_of_fact
from convoy.model import ids, session_result
from convoy.model.records import Settings, Usage, Verdict
from convoy.owed import Collect
from convoy.planner import ANSWER_CHARS
from convoy.text import clean
from convoy.text.redaction import redacted
from grite import chunk
from grite.errors import BratError, Corrupt
from grite.event import CommentAdded, Event

ARTIFACT: Final = "brat-result"
UNPACKED_BYTES: Final = 500_000_000
BUNDLE_BYTES: Final = 100_000_000
"""A bundle is packed already, and is read into memory as a whole."""
_Model = TypeVar("_Model", bound=Struct)
_RESULT: Final = "result.json"
_BUNDLE: Final = "work.bundle"
_EVENTS: Final = "events.bin"
_USAGE: Final = "usage.jsonl"
_CHECKPOINT: Final = "checkpoint.bundle"
_TURNED_AWAY: Final = "turned-away.json"
_ALLOWED: Final = frozenset(
    (_RESULT, _BUNDLE, _EVENTS, _USAGE, _CHECKPOINT, _TURNED_AWAY, "transcript.jsonl")
)
_TOO_LARGE: Final = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_FOR_GOOD: Final = frozenset({HTTPStatus.GONE, _TOO_LARGE})
LOST: Final = "the session ended without a result: its machine or its witness died"
_READ_BYTES: Final = 100_000
"""The most that is read of a zip at once. Python reads the whole list of files so: one
of 100 MB takes a gigabyte, one of long extra fields 2 s for each 6 MB. Ours has seven
files at most.
"""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
    # from zipfile: a negative offset, an offset beyond all numbers, encrypted
    *(ValueError, OverflowError, RuntimeError),
)
_SMALL_BYTES: Final = 1_000_000
_EVENTS_MOST: Final = 1_000


class Unacceptable(BratError):
    """The artifact holds no acceptable result; the message says why."""


Status = Literal["done", "noop", "blocked", "missing_tool", "missing_data"]
NEEDS_A_PERSON: Final = frozenset({"blocked", "missing_tool", "missing_data"})


class Unfinished(Unacceptable):
    """The artifact has no result.json: the witness died before writing it."""

    def __init__(
        self,
        claims: tuple[Event, ...],
        used: bytes,
        bundles: tuple[bytes, ...],
        why: str,
    ) -> None:
        super().__init__("the artifact has no result.json")
        self.claims = claims
        """The events that the session had recorded until then."""
        self.used = used
        """The session's usage.jsonl, which may be cut anywhere."""
        self.bundles = bundles
        """The bundles of its work until then, the newest first, unchecked."""
        self.why = why
        """What its machine lacked; empty: nobody knows."""


class TurnedAway(Unacceptable):
    """The job had no task or no room, so no session began; the message says why.

    Another attempt would meet the same until a person changes what the job is told.
    """


class _Reason(Struct, frozen=True):
    """`turned-away.json`, version 1."""

    v: Literal[1]
    session: str
    why: Annotated[str, Meta(min_length=1, max_length=2_000)]


Lines = Annotated[
    tuple[Annotated[str, Meta(max_length=session_result.LINE_CHARS)], ...],
    Meta(max_length=session_result.LINES_MOST),
]
Why = Annotated[str, Meta(max_length=2_000)]


class Noted(Struct, frozen=True):
    """The agent's notes for others; cleaned when they are used."""

    notes: Lines = ()
    shared: Lines = ()
    declined: Lines = ()


class Result(Struct, frozen=True, kw_only=True):
    """`result.json`, version 1: the witness's report on the attempt."""

    v: Literal[1]
    session: str
    nonce: str
    status: Status | None = None
    """The agent's own status; it counts only where the agent needs a person."""
    conclusion: Verdict
    outcome: session_result.Outcome = "exited"
    retry_after_s: Annotated[float, Meta(ge=0)] | None = None
    why: Why = ""
    summary: Annotated[str, Meta(max_length=10_000)] = ""
    report: Annotated[str, Meta(max_length=ANSWER_CHARS)] = ""
    """The plan or the report, where the session was to make one."""
    base: str
    accepted: bool | None = None
    """Whether the acceptance command exited with 0; used only when nothing lands."""
    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")] | None = None
    refusals: Annotated[tuple[str, ...], Meta(max_length=20)] = ()
    """Why the witness's gate refused the work; the bot's own gate decides."""
    usage: Usage = Usage()
    """As the witness reports it; bounded when it is used."""
    network: Why = ""
    """Why the agent's network was not closed although it should have been."""
    walls: session_result.Walls = session_result.Walls()
    """One that is not claimed did not stand."""
    left: Noted = Noted()

    def missing_walls(self, settings: Settings) -> tuple[str, ...]:
        """Return the walls that a session under these settings should have claimed.

        Without a list of hosts, a network that stayed open though it should not have
        is known only by the session's own word.
        """
        if settings.box == "off":
            return ()  # which is said on every comment
        listed = settings.egress is not None and "*" not in settings.egress
        closed = listed or bool(self.network)
        return session_result.missing_walls(self.walls, closed=closed)

    @property
    def used(self) -> Usage:
        """The session's usage, limited to plausible values."""
        return self.usage.bounded


class ResultArtifact(Struct, frozen=True, kw_only=True):
    """A checked artifact; `bundle` exists only as long as the `with` block."""

    result: Result
    bundle: Path | None
    claims: tuple[Event, ...]


async def fetch(context: BotContext, action: Collect) -> bytes | str | None:
    """Return a run's artifact, or why it has none; None: it may still come."""
    try:
        data = await context.github.runs.artifact(action.run, ARTIFACT)
    except Refused as refused:
        if refused.status in _FOR_GOOD:
            return refused.said if refused.status == _TOO_LARGE else str(refused)
        run = context.observed.runs.get(action.run)
        if run is None or not run.deleted:
            raise  # not the attempt's fault: its work waits until it is handed over
        data = None
    if data is not None:
        return data
    now = context.clock()
    ended = context.memory.ended.setdefault(action.run, now)
    if now - ended < context.settings.artifact_grace_s * 1000:
        return None
    return fit_text(await context.github.ci.why_unstarted(action.run)) or LOST


@contextmanager
def opened(
    data: bytes, *, session: str, nonce: str, actor: str
) -> Iterator[ResultArtifact]:
    """Give the checked content of a zipped artifact.

    Args:
        data: the zip, at most `github.ARTIFACT_BYTES`.
        session: the attempt that must have made it, `<convoy>/<task>/<attempt>`.
        nonce: that attempt's nonce.
        actor: the only actor (hex) whose events it may hold.

    Raises:
        TurnedAway: its job began no session.
        Unfinished: it has no result.json.
        Unacceptable: it failed any other check.
    """
    with tempfile.TemporaryDirectory(prefix="brat-intake-") as folder:
        files = _unpacked(data, Path(folder))
        why = ""
        if _TURNED_AWAY in files:
            told = _checked(_Reason, files[_TURNED_AWAY])
            if told.session != session:
                raise Unacceptable(f"the job belongs to session {told.session[:80]!r}")
            why = told.why
            if len(files) == 1:
                raise TurnedAway(why)
        claims = _claims(files.get(_EVENTS), session, actor)
        if _RESULT not in files:
            left = (files[name] for name in (_BUNDLE, _CHECKPOINT) if name in files)
            small = (each for each in left if each.stat().st_size <= BUNDLE_BYTES)
            bundles = tuple(each.read_bytes() for each in small)
            used = b""
            if _USAGE in files:
                with files[_USAGE].open("rb") as source:
                    used = source.read(_SMALL_BYTES)
            raise Unfinished(claims, used, bundles, why)
        result = _checked(Result, files[_RESULT])
        if (result.session, result.nonce) != (session, nonce):
            raise Unacceptable(f"the result is another run's: {result.session[:80]!r}")
        bundle = files.get(_BUNDLE)
        if result.commit not in (None, result.base) and bundle is None:
            raise Unacceptable("the result names a commit but has no work.bundle")
        if bundle is not None and bundle.stat().st_size > BUNDLE_BYTES:
            raise Unacceptable(f"work.bundle is larger than {BUNDLE_BYTES} bytes")
        yield ResultArtifact(result=result, bundle=bundle, claims=claims)


class _Zipped(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _READ_BYTES:
            raise Unacceptable("the artifact lists too many files")
        return super().read(size)


def _unpacked(data: bytes, folder: Path) -> dict[str, Path]:
    try:
        archive = zipfile.ZipFile(_Zipped(data))
    except _BROKEN as error:
        raise Unacceptable(f"the artifact is not a zip file: {error}") from error
    with archive:
        entries = archive.infolist()
        if strange := sorted({e.filename for e in entries} - _ALLOWED):
            raise Unacceptable(f"unexpected file in the artifact: {strange[0][:80]!r}")
        if len(entries) > len({entry.filename for entry in entries}):
            raise Unacceptable("the artifact contains the same file name twice")
        if any(entry.compress_type not in _METHODS for entry in entries):
            raise Unacceptable("the artifact uses an unsupported compression method")
        if sum(entry.file_size for entry in entries) > UNPACKED_BYTES:
            raise Unacceptable(f"the artifact unpacks to over {UNPACKED_BYTES} bytes")
        return {e.filename: _extracted(archive, e, folder) for e in entries}


def _extracted(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> Path:
    """Write one entry; never more bytes than its header promised."""
    target = folder / entry.filename
    left = entry.file_size
    try:
        with archive.open(entry) as source, target.open("wb") as sink:
            while piece := source.read(_READ_BYTES):
                left -= len(piece)
                if left < 0:
                    raise Unacceptable(f"{entry.filename} is larger than declared")
                sink.write(piece)
    except _BROKEN as error:
        raise Unacceptable(f"{entry.filename} cannot be unpacked: {error}") from error
    return target


def _checked(model: type[_Model], file: Path) -> _Model:
    if file.stat().st_size > _SMALL_BYTES:
        raise Unacceptable(f"{file.name} is larger than {_SMALL_BYTES} bytes")
    try:
        return msgspec.json.decode(file.read_bytes(), type=model)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unacceptable(f"{file.name}: {error}") from error


def _claims(file: Path | None, session: str, actor: str) -> tuple[Event, ...]:
    """Return the session's events; any foreign event refuses them all."""
    if file is None:
        return ()
    if file.stat().st_size > _SMALL_BYTES:
        raise Unacceptable(f"events.bin is larger than {_SMALL_BYTES} bytes")
    try:
        held = chunk.decode(file.read_bytes())
    except Corrupt as error:
        raise Unacceptable(f"events.bin: {error}") from error
    if held.faults:
        raise Unacceptable(f"events.bin: {held.faults[0]}")
    if len(held.events) > _EVENTS_MOST:
        raise Unacceptable(f"events.bin has too many events: {len(held.events)}")
    for event in held.events:
        if fault := _fault_of_claim(event, session, actor):
            raise Unacceptable(f"events.bin contains an event {fault}")
    return held.events


def _fault_of_claim(event: Event, session: str, actor: str) -> str:
    if event.actor.hex() != actor:
        return f"by actor {event.actor.hex()}"
    if not isinstance(event.kind, CommentAdded):
        return "that is not a comment"
    fact = fact_of(event.kind.body)
    if fact is None or isinstance(fact, UnknownFact) or not isinstance(fact, Claim):
        return "that sessions may not write"
    if ids.session_name(fact.convoy, fact.task, fact.attempt) != session:
        return "of another session"
    return "" if issue_of_fact(fact) == event.issue else "on another task's issue"


def fit_text(said: str) -> str:
    """Return a session's text, cleaned and redacted for the log and later attempts."""
    return redacted(clean(said))
