"""A repository and its forge in memory: refs, the log, runs, checks, pull requests.

Refs move by compare-and-swap, all or none, as `git push --atomic` does. At each outside
call there is a moment at which the caller can be made to die or to miss the answer.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from msgspec import Struct

from bot.forge.rest import Refused
from bot.repository.compose import Conflicted
from convoy.events import Command, Event
from convoy.events.session_events import TaskStarted
from convoy.log.record import UnknownFact, fact_of, fold
from convoy.model.ids import MINUTE_MS
from convoy.model.records import Report
from convoy.model.state import State
from convoy.model.work import TargetRules
from convoy.rules import ending
from convoy.rules.verdict import Check
from grite.errors import Conflict, Rejected, Unavailable
from grite.event import CommentAdded, Event as GriteEvent
from grite.push_answer import PushAnswer, RefAnswer
from grite.remote import RefUpdate
from tests.world.model.commits import Commits

HEADS = "refs/heads/"
MAIN = HEADS + "main"
QUEUE = HEADS + "brat/queue/"
LOCK = "refs/grite/locks/bot"

How = Literal[
    "work",
    "report",
    "approve",
    "changes",
    "choose",
    "refused",
    "nothing",
    "lost",
    "outage",
]


class Died(BaseException):
    """The process that was acting is gone; its argument names the moment."""


class Entry(Struct, frozen=True):
    commit: str
    events: tuple[GriteEvent, ...]
    actor: bytes


@dataclass
class Fuse:
    """Burns by one with each moment; at the last something happens to the caller."""

    left: int
    how: Literal["dies", "misses the answer", "is raced"] = "dies"
    race: Callable[[], None] = lambda: None
    """What somebody else does between the caller's look and its push."""


class Result(Struct, frozen=True):
    how: How
    commit: str = ""
    files: tuple[str, ...] = ()
    on: int = 0
    """The rival that is chosen."""

    def command(self, convoy: str, task: int, attempt: int, *, base: str) -> Command:
        """Return what it is to the rules; `base` is where the work began."""
        of: dict[str, Any] = {"convoy": convoy, "task": task, "attempt": attempt}
        match self.how:
            case "lost" | "outage":
                return ending.LoseSession(**of, cause=self.how, why="it ended early")
            case "refused":
                return ending.RefuseWork(**of, cause="refused", why="a link")
            case "nothing":
                return ending.AcceptNothing(**of)
            case "report":
                return ending.AcceptReport(**of, report=Report(summary="So it is."))
            case "approve" | "changes":
                return ending.AcceptReview(**of, verdict=self.how, text="Not so.")
            case "choose":
                return ending.MakeChoice(**of, on=self.on, text="It is the best.")
            case "work":
                return ending.AcceptWork(
                    **of, commit=self.commit, base=base, files=self.files
                )
            case _:
                assert_never(self.how)


LOST = Result("lost")


@dataclass
class Run:
    session: str
    nonce: str
    started: TaskStarted
    completed: bool = False
    deleted: bool = False
    """A person did that; nothing is left of it."""
    result: Result = LOST


@dataclass
class Pull:
    """A pull request; merged when its base comes to contain its head."""

    number: int
    head: str
    base: str
    state: Literal["open", "merged", "closed", "orphan", "shut"] = "open"
    """`orphan`: closed because a person deleted its base; `shut`: by a person."""
    moved_to: str = ""
    """What a person changed its base to; empty: nobody did."""
    merged_head: str = ""
    """What its head stood at when it was merged."""
    merged_as: str = ""
    """The commit of its base that first contained its head, or that the forge made."""
    approved: bool = False


class Bar(Struct, frozen=True):
    """What the forge refuses until that is lifted."""

    what: str
    """A kind of write, or a part of a ref's name."""
    named: bool = True
    """Whether the refused ref is named; else the whole push is refused."""
    convoy: str = ""
    """The only one that it concerns; empty: it concerns all."""


@dataclass
class Forge:
    """The whole outside world of the bots."""

    commits: Commits = field(default_factory=Commits)
    refs: dict[str, str] = field(default_factory=dict)
    log: list[Entry] = field(default_factory=list)
    state: State = field(default_factory=State)
    """What the log says, folded as it was written."""
    now: int = 1_000_000
    runs: dict[int, Run] = field(default_factory=dict)
    checks: dict[str, list[Check]] = field(default_factory=dict)
    a_person_asks: bool = False
    """Whether what is pushed now is a person's word, who may say it again at once."""
    pulls: list[Pull] = field(default_factory=list)
    rules: TargetRules = field(default_factory=TargetRules)
    """What the forge asks for before the target moves."""
    merge_queue: list[int] = field(default_factory=list)
    comments: dict[int, tuple[int, str]] = field(default_factory=dict)
    labels: dict[int, set[str]] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    unlabelled: set[int] = field(default_factory=set)
    """The issues of which a person took the label off."""
    fuse: Fuse | None = None
    refused: str = ""
    """A kind of call that the forge says no to."""
    bar: Bar | None = None
    tries: dict[str, tuple[int, tuple[str | None, ...]]] = field(default_factory=dict)
    """When each thing was refused by the bar last; emptied when its bot may forget."""
    broken: list[AssertionError] = field(default_factory=list)
    """Promises broken where the bot keeps a failure to its item."""
    on_fact: Callable[[State, State, Event], None] = lambda *_: None
    """Is told of every fact as it is written, with the states around it."""
    on_push: Callable[[Mapping[str, str], Sequence[RefUpdate]], None] = lambda *_: None
    """Is told of every push of a bot, with the refs before it."""
    foreign: set[tuple[str, str]] = field(default_factory=set)
    """Refs that others than bots moved, each with the commit it was moved to."""
    _numbers: int = 0

    def __post_init__(self) -> None:
        self.refs[MAIN] = self.commits.make((), {"README.md": ("app",)})

    def number(self) -> int:
        """Return a number that was never given before."""
        self._numbers += 1
        return self._numbers

    def fresh_id(self, digits: int = 40) -> str:
        """Return hex digits that were never given before."""
        return hashlib.sha256(str(self.number()).encode()).hexdigest()[:digits]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep what is broken in the block, which nobody may excuse."""
        try:
            yield
        except AssertionError as broken:
            self.broken.append(broken)
            raise

    def moment(self, name: str) -> None:
        """Pass a moment at which the caller may end.

        Raises `Died`: it does. Unavailable: only the answer is lost.
        """
        fuse = self.fuse
        if fuse is None:
            return
        fuse.left -= 1
        if fuse.left >= 0:
            return
        when = name.split(maxsplit=1)[0]
        if fuse.how == "dies":
            self.fuse = None
            raise Died(name)
        if fuse.how == "misses the answer" and when == "after":
            self.fuse = None
            raise Unavailable(name)
        if fuse.how == "is raced" and name == "before push":
            self.fuse = None
            fuse.race()

    # --- git ------------------------------------------------------------------------

    def write(self, kind: str, which: object) -> None:
        """Begin a call that changes something.

        Args:
            kind: what it does.
            which: to what.

        Raises:
            Refused: the forge does not want it now.
        """
        self.moment(f"before {kind}")
        if kind == self.refused:
            raise Refused(kind, 403, "not now")
        if self.bar is not None and kind == self.bar.what:
            self._tried(f"{kind} {which}")
            raise Refused(kind, 403, "not before it is lifted")

    def _tried(self, what: str, moved: tuple[str | None, ...] = ()) -> None:
        """Note a try in vain: there are no two of the same in a minute.

        Args:
            what: a call that changes something, or a ref.
            moved: of a ref its new commit, then those of all others in the push. What
                stood on one of those may be tried again without it.
        """
        at, before = self.tries.get(what, (0, ()))
        if at and before[:1] == moved[:1] and self.now - at < MINUTE_MS:
            below = {*before[1:]} - {*moved[1:]}
            stood = moved and moved[0] and below & {*self.commits[moved[0]].parents}
            assert stood, f"{what}: too soon"
        self.tries[what] = self.now, moved

    def _judge(self, updates: Mapping[str, RefUpdate]) -> None:
        """Refuse a push that moves what is barred. Raises `Rejected`: it does."""
        bar = self.bar
        moves = {update.ref: update.new for update in updates.values()}
        barred = {ref for ref in moves if bar is not None and bar.what in ref}
        if bar is None or not barred:
            return
        counts = bar.named and not self.a_person_asks
        for ref in sorted(barred) if counts else ():
            self._tried(ref, (moves[ref], *moves.values()))
        answers = tuple(
            RefAnswer(ref, "refused" if ref in barred else "collateral", "not so")
            for ref in moves
        )
        raise Rejected((), 1, "", PushAnswer(answers, "not so", not bar.named))

    def _protect(self, updates: Mapping[str, RefUpdate]) -> None:
        """Refuse a push of the target that its rules want to be a merge.

        Raises `Rejected`: it is one.
        """
        if self.pushable or MAIN not in {update.ref for update in updates.values()}:
            return
        said = "GH006: Changes must be made through a pull request."
        answers = tuple(
            RefAnswer(ref, "refused" if ref == MAIN else "collateral", said)
            for ref in (update.ref for update in updates.values())
        )
        raise Rejected((), 1, "", PushAnswer(answers, said))

    @property
    def pushable(self) -> bool:
        rules = self.rules
        return not (rules.pull_request or rules.linear or rules.queue or rules.reviews)

    def merge(self, pull: Pull, *, squash: bool) -> None:
        """Merge a pull request as the forge does it. Raises `Refused`: it conflicts."""
        head, base = self.refs[HEADS + pull.head], self.refs[HEADS + pull.base]
        fork = self.commits.fork_of(head, base)
        assert fork is not None
        made = self.commits.merged(fork, base, head)
        if isinstance(made, Conflicted):
            raise Refused("PUT merge", 405, "Pull Request is not mergeable")
        parents = (base,) if squash else (base, head)
        commit = self.commits.make(parents, made, ("merge", pull.number))
        pull.state, pull.merged_as, pull.merged_head = "merged", commit, head
        self.person_moves(HEADS + pull.base, commit)

    def push(
        self,
        events: Sequence[GriteEvent],
        updates: Mapping[str, RefUpdate],
        *,
        after: int,
        actor: bytes,
    ) -> None:
        """Move refs and append to the log after so many entries, all or nothing.

        Raises `Conflict`: a ref, or the log, is not where the pusher believes it to be.
        Rejected: the forge does not take it.
        """
        self.moment("before push")
        for update in updates.values():
            if self.refs.get(update.ref) != update.old:
                raise Conflict(update.ref)
        if events and len(self.log) != after:
            raise Conflict("the log")
        self._judge(updates)
        self._protect(updates)
        before = dict(self.refs)
        self._move(tuple(updates.values()))
        if events:
            self._append(tuple(events), actor)
        self.on_push(before, tuple(updates.values()))
        self.moment("after push")

    def person_moves(self, ref: str, commit: str | None) -> None:
        if commit is not None:
            self.foreign.add((ref, commit))
        self._move((RefUpdate(ref, commit, self.refs.get(ref)),))

    def _append(self, events: tuple[GriteEvent, ...], actor: bytes) -> None:
        entry = Entry(self.fresh_id(), events, actor)
        self.log.append(entry)
        for event in events:
            before = self.state
            self.state = fold(before, entry.commit, [event], actor)
            fact = fact_in(event)
            if fact is not None:
                self.on_fact(before, self.state, fact)

    def _move(self, updates: Sequence[RefUpdate]) -> None:
        """Move refs in the order that is worst for pull requests: bases first."""
        bases = {pull.base for pull in self.pulls}
        ordered = sorted(
            updates, key=lambda u: (u.ref.removeprefix(HEADS) not in bases, u.ref)
        )
        for update in ordered:
            if update.new is None:
                self.refs.pop(update.ref, None)
            else:
                self.refs[update.ref] = update.new
            for pull in self.pulls:
                if pull.state == "open":
                    self._follow(pull, update)

    def _follow(self, pull: Pull, update: RefUpdate) -> None:
        onto = pull.moved_to or pull.base
        if update.ref not in (HEADS + pull.head, HEADS + onto):
            return
        head, base = (self.refs.get(HEADS + name) for name in (pull.head, onto))
        if base is None:
            pull.state = "orphan"
        elif head is None:
            pull.state = "shut"
        elif self.commits.contains(base, head):
            moved_base = update.ref == HEADS + onto
            pull.state = "merged" if moved_base else "closed"
            pull.merged_as = base if moved_base else ""
            pull.merged_head = head

    # --- what stands where ----------------------------------------------------------

    def queued(self) -> list[str]:
        """Return the commits that stand on queue branches, where CI looks."""
        return sorted({c for ref, c in self.refs.items() if ref.startswith(QUEUE)})


def fact_in(event: GriteEvent) -> Event | None:
    if not isinstance(event.kind, CommentAdded):
        return None
    fact = fact_of(event.kind.body)
    assert not isinstance(fact, UnknownFact)
    return fact  # type: ignore[return-value]  # the model's sessions claim nothing
