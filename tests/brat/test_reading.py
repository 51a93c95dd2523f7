"""Reading a log without a bot: what was read is kept, and never trusted too far."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest

from brat.commands.mcp_server import TOOLS, Backend
from brat.doctor.checkup import GRACE_MS, repair
from brat.repository import log_reader
from brat.repository.log_reader import CACHE, WORTH, Reader, authority_of, verify
from convoy.events.people_events import ConvoyPaused
from convoy.log import record as states
from convoy.log.record import Reading, follow, record
from convoy.model.state import Moment, State
from grite import checkpoint, lease, signatures
from grite.errors import BratError, Missing, Rewritten
from grite.lease import Lock
from grite.remote import Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import commit, said
from tests.world.kept import NOW, Kept
from tests.world.local_log import appended
from tests.world.log_keys import LOG_KEY, OTHER_KEY
from tests.world.rules import ACTOR, NAME


@pytest.fixture
def told(tmp_path: Path) -> Kept:
    kept = Kept(tmp_path / "log.git")
    kept.tell(words=WORTH)
    return kept


@pytest.fixture
def read_commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    real = Log.read

    def watched(log: Log, head: str, **more: Any) -> Iterator[object]:  # noqa: ANN401
        for entry in real(log, head, **more):
            seen.append(entry.commit)
            yield entry

    monkeypatch.setattr(Log, "read", watched)
    return seen


def truth(told: Kept) -> State:
    return follow(told.log, str(told.log.head())).state


@pytest.mark.parametrize("is_same", [True, False])
def test_a_second_reading_costs_only_what_is_new(
    told: Kept, read_commits: list[str], *, is_same: bool
) -> None:
    reader = Reader(told.path)
    reader.read()
    told.rules.started(1)
    new = told.tell()
    read_commits.clear()

    reader = reader if is_same else Reader(told.path)
    state = reader.read()

    assert read_commits == [new]
    assert state == reader.read() == truth(told)
    assert state.convoys[NAME].state == "active"
    assert (reader.faults, reader.notices) == ((), ())


def of_another_log(data: bytes) -> bytes:
    moment = Moment("1" * 40, states.decode_reading(data).state.moment.at)
    return states.encode_reading(Reading(State(moment=moment)))


@pytest.mark.parametrize("harm", [lambda data: data[:-5], of_another_log, None])
def test_what_is_of_no_use_is_not_used(
    harm: Callable[[bytes], bytes] | None, told: Kept
) -> None:
    Reader(told.path).read()
    file = told.path / CACHE / "state.json"
    if harm is None:
        file.unlink()
    else:
        file.write_bytes(harm(file.read_bytes()))

    reader = Reader(told.path)
    reader.read()

    assert reader.state == truth(told)
    notices = [str(file) in notice for notice in reader.notices]
    assert notices == [True] * (harm is not None)
    assert states.decode_reading(file.read_bytes()).head == told.log.head()
    shutil.rmtree(file.parent)
    file.parent.write_text("no folder")  # where none can be, it is read each time
    for _ in range(2):
        assert Reader(told.path).read() == truth(told)


def test_a_clone_without_history_is_read_from_its_checkpoint_or_says_what_to_do(
    told: Kept, tmp_path: Path
) -> None:
    told.mark()
    told.rules.started(1)
    told.tell()
    clone, bare = tmp_path / "clone.git", tmp_path / "bare.git"
    ensure_mirror(clone)
    Remote(told.path.as_uri(), clone).fetch(["+refs/grite/*:refs/grite/*"], 2)
    assert Reader(clone).read() == truth(told)

    ensure_mirror(bare)
    wal = f"+{WAL_REF}:{WAL_REF}"
    Remote(told.path.as_uri(), bare).fetch([wal], 1)
    with pytest.raises(Missing, match="git fetch --unshallow origin"):
        Reader(bare).read()
    said(bare, "fetch", "-q", "--unshallow", told.path.as_uri(), wal)
    assert Reader(bare).read() == truth(told)


def test_checkpoints_are_held_against_the_log(told: Kept) -> None:
    told.mark(NOW)
    told.rules.started(1)
    told.tell()
    told.mark(NOW + 1)
    assert verify(told.path) == ()

    head = str(told.log.head())
    repo = pygit2.Repository(str(told.path))
    wrong = states.encode_reading(Reading(State(moment=Moment(head, 1))))
    made = checkpoint.write(repo, wrong, head, NOW)
    said(told.path, "update-ref", checkpoint.ref_of(NOW + 2), made)
    blob = commit(told.path, {"a": b"1"})
    said(told.path, "update-ref", checkpoint.ref_of(NOW - 1), blob)
    told.tell(words=1)

    rubbish, wrong_one = verify(told.path)

    assert rubbish.startswith(f"{checkpoint.ref_of(NOW - 1)}: it cannot be used: ")
    differs = f"{checkpoint.ref_of(NOW + 2)}: it does not match the log "
    assert wrong_one.startswith(differs)

    said(told.path, "update-ref", "-d", WAL_REF)
    assert "the log is gone" in verify(told.path)[1]
    appended(told.log, told.rules.written[:1], after=None, actor=ACTOR, at_ms=1)

    assert "does not descend" in verify(told.path)[1]


def test_a_log_that_was_rewound_is_refused(told: Kept) -> None:
    before = told.log.head()
    told.rules.started(1)
    head = told.tell()
    reader = Reader(told.path)
    state = reader.read()
    said(told.path, "update-ref", WAL_REF, str(before))

    with pytest.raises(Rewritten, match=f"{before} does not descend from {head}"):
        reader.read()
    said(told.path, "update-ref", "-d", WAL_REF)
    gone = f"the log is gone; its last known head is {head}"
    with pytest.raises(Rewritten, match=gone):
        reader.read()

    assert reader.state == state


# --- what is only a cache or a stale lock is put right; what is history stays ---------


def refs(told: Kept) -> set[str]:
    return set(pygit2.Repository(str(told.path)).listall_references())


def locked(told: Kept, resource: str, expires_ms: int) -> str:
    repo = pygit2.Repository(str(told.path))
    lock = Lock(ACTOR, "n", expires_ms, resource)
    made = lease.write(repo, lock, parent=None, at_ms=NOW)
    said(told.path, "update-ref", lease.ref_of(resource), made)
    return lease.ref_of(resource)


def test_what_is_of_no_use_is_removed_or_made_again_and_nothing_else(
    told: Kept,
) -> None:
    state = Reader(told.path).read()
    good, bad = told.mark(), checkpoint.ref_of(NOW + 1)
    blob = commit(told.path, {"a": b"1"})
    broken = lease.ref_of("path:b")
    for ref in (bad, broken):
        said(told.path, "update-ref", ref, blob)
    ran_out = locked(told, "path:a", NOW - GRACE_MS)
    held = locked(told, "path:c", NOW - GRACE_MS + 1)
    file = told.path / CACHE / "state.json"
    file.write_bytes(file.read_bytes()[:40])

    done = repair(told.path, NOW)

    removed = {line.split(": ")[0] for line in done if line.startswith("removed ")}
    assert removed == {f"removed {ref}" for ref in (bad, broken, ran_out)}
    (again,) = [line for line in done if not line.startswith("removed ")]
    assert again.startswith("the log was read again in full: ")
    assert refs(told) == {WAL_REF, good, held}
    assert verify(told.path) == ()
    reader = Reader(told.path)
    assert (reader.read(), reader.notices) == (state, ())
    assert repair(told.path, NOW) == ()

    said(told.path, "update-ref", "-d", WAL_REF)
    repair(told.path, NOW)
    assert refs(told) == {good, held}, "beside a log that is gone, checkpoints stay"


# --- a signed log: readers stop where nobody who may sign it has signed ---------------


@pytest.fixture
def signed(tmp_path: Path) -> Kept:
    """Give the log of a local forge, whose bot has a key."""
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / signatures.BOT_SIGNERS_FILE).write_text(line(LOG_KEY.public))
    path = tmp_path / "forge" / "repos" / "alice" / "app.git"
    path.parent.mkdir(parents=True)
    return Kept(path, writer=LOG_KEY.writer())


def line(public: bytes) -> str:
    return signatures.signer_line(public, "a key")


def forged(signed: Kept) -> str:
    """Push what pauses the convoy, as the bot, without its key."""
    log = Log(signed.path)
    reader = Reader(signed.path)
    fact = ConvoyPaused(convoy=NAME, by="mallory")
    events = record(reader.read(), [fact], actor=ACTOR, at=NOW)[1]
    return appended(log, events, after=log.head(), actor=ACTOR, at_ms=NOW)


async def test_a_forged_event_changes_nothing_and_is_named_wherever_it_is_listed(
    signed: Kept,
) -> None:
    before = Reader(signed.path).read()
    whole = log_reader.newest_lines(signed.path, 100)
    theirs = forged(signed)
    reader = Reader(signed.path)

    assert reader.read() == before
    (fault,) = reader.faults
    assert theirs[:10] in fault
    assert "not signed" in fault
    shown = log_reader.newest_lines(signed.path, 100)
    exported = json.loads(log_reader.as_json(log_reader.log_entries(signed.path)))

    assert shown[:-1] == whole
    uncounted = f"commit {theirs[:10]} does not count: no allowed key signed it"
    assert uncounted in shown[-1].text
    assert exported["meta"]["foreign"] == [theirs]
    assert "mallory" not in json.dumps(exported)
    seen = await TOOLS[3].call(Backend(signed.path), {"lines": 100})
    assert [one["text"] for one in seen["lines"]] == [one.text for one in shown]
    assert "mallory" not in str(shown)


def test_a_forged_checkpoint_is_not_used(signed: Kept) -> None:
    signed.writer = OTHER_KEY.writer()
    ref = signed.mark()
    reader = Reader(signed.path)

    reader.read()

    (notice,) = reader.notices
    assert notice.startswith(f"{ref} cannot be used")
    assert "not allowed" in notice
    assert len(verify(signed.path)) == 1


def test_in_a_clone_the_default_branch_says_who_may_sign(tmp_path: Path) -> None:
    signed = Kept(tmp_path / "clone.git", writer=LOG_KEY.writer())
    assert authority_of(signed.path) is None
    rules = {signatures.SIGNERS_FILE: line(OTHER_KEY.public).encode()}
    said(signed.path, "update-ref", "refs/heads/main", commit(signed.path, rules))

    reader = Reader(signed.path)
    reader.read()

    assert reader.trusted is not None
    assert reader.trusted.head is None
    assert "not allowed" in reader.trusted.fault


def test_a_line_that_cannot_be_enforced_stops_a_reader(signed: Kept) -> None:
    file = signed.path.parents[3] / "bot" / signatures.BOT_SIGNERS_FILE
    file.write_text("brat ssh-rsa AAAA")

    with pytest.raises(BratError, match="line 1 of the allowed signers"):
        Reader(signed.path).read()
