"""What the state is made of: attempts, work, candidates, landings, convoys by name.

Also what the log announces before the forge is asked for it, and the answers that
people had. All are values; the events of `convoy.events` set them.

`Convoys` holds all convoys in the order they were asked for; those that rest are
packed. One value with two ways of holding it: packed or not, it is equal to itself, and
who asks for a convoy gets it whole. A change copies only the convoys at hand.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, Literal, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from convoy.model import ids
from convoy.model.records import Reaction, Strategy, Usage


class Message(Struct, frozen=True):
    """What a person said while an attempt ran."""

    by: str
    text: str


class Attempt(Struct, frozen=True, kw_only=True):
    """A session that has started and whose end is not in the log yet."""

    number: int
    session: str
    nonce: str
    base: str
    root: str = ""
    """The commit that its work is measured from, where that is not `base`."""
    salvaged: int = 0
    """The earlier attempt whose half-done work is `base`; 0: none."""
    ground: str = ""
    """The commit it would have started from without that half-done work."""
    resolves: str = ""
    """The merge with git's conflict markers that it makes whole; empty: none."""
    log: str
    """The commit that carries `task.started`, which the runner is told to read."""
    at: int
    """The time it was started, later the time its dispatch was noted."""
    run: int | None = None
    """The workflow run, once the dispatch is known to be done."""
    messages: tuple[Message, ...] = ()
    """The messages people sent to the task since it started, oldest first."""
    heard: int = 0
    """How many of those messages its engine has been given."""


class Work(Struct, frozen=True, kw_only=True):
    """Work that an attempt handed in and the gate let through."""

    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    ci_files: tuple[str, ...] = ()
    """Those that tell CI what to run."""
    log: str = ""
    """The commit that carries `work.accepted`; empty until it is pushed."""
    at: int
    missing_walls: tuple[str, ...] = ()
    """The walls that its session does not claim to have had around its agent."""


class Unmerged(Struct, frozen=True, kw_only=True):
    """Work that conflicts with what has landed; the next attempt makes it fit."""

    attempt: int
    commit: str
    base: str
    paths: tuple[str, ...]
    only_adds: bool = False
    """Whether both sides only added lines to these files."""
    merge: str = ""
    """The merge that the newest attempt at it began with; empty: none has begun."""
    at: int
    """When the conflict was found, unix ms."""


class Resolution(Struct, frozen=True, kw_only=True):
    """What an attempt that resolves a conflict starts from and is told."""

    attempt: int
    """The attempt whose work it continues."""
    merge: str
    """That work merged into the branch, with git's conflict markers."""
    tip: str
    """The commit of the branch that it was merged into."""
    told: str
    """Both sides of the conflict: what each was for and what it changed; data."""


class HalfDone(Struct, frozen=True, kw_only=True):
    """The unfinished work of an attempt that was stopped in the middle of it."""

    attempt: int
    commit: str
    base: str
    """The commit that the whole work is measured from."""
    ground: str
    """The commit that the first in this chain of attempts started from."""


class HandedIn(Struct, frozen=True):
    """The newest work that the gate let through, even if it was sent back since."""

    attempt: int
    commit: str
    why: str = ""
    """Why it was sent back; empty: it was not."""
    before: str = ""
    """The commit that was handed in before it: reviews of it may come late."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A commit that CI judges and that then lands unchanged."""

    commit: str
    base: str
    work: str
    target: str = ""
    """The target's commit that a task's work takes in; empty: it takes none in."""
    strategy: Strategy = "merge"
    at: int
    since: int = 0
    """When the first candidate of the same work was built, unix ms."""


class Approval(Struct, frozen=True, kw_only=True):
    """Who approved which commit, and where the forge shows it."""

    by: str
    commit: str
    review: int = 0
    """The review that said so; 0: it was no review."""
    comment: int = 0
    """The comment that said so; 0: it was no comment."""


class ReviewThread(Struct, frozen=True, kw_only=True):
    """A thread of comments on a line of a task's work, open or answered."""

    comment: int
    """The thread's first comment."""
    path: str
    """The file."""
    line: int
    """The line in the file; 0: the whole file."""
    by: str
    """Who commented last in it, or asked again."""
    says: str
    """A digest of that comment or request."""
    bot: bool = False
    """Whether its author is a bot."""
    pull: int = 0
    """The pull request that it is on; 0: the task's own."""
    since: int = 0
    """How many attempts had started by then; a later one answers it."""
    times: int = 1
    """How many times something was asked in it."""
    is_open: bool = True
    """Whether it is still unanswered."""

    def is_told(self, attempt: int) -> bool:
        """Whether an attempt was started with it, and is to answer it."""
        return self.is_open and self.since < attempt


class Doubt(Struct, frozen=True, kw_only=True):
    """What CI said against work that nobody is blamed for yet."""

    work: str
    """The work it is about; newer work is not doubted."""
    is_red: bool = False
    """Whether it was red, and has not been green alone since."""
    lost: int = 0
    """How often in a row CI ended without a verdict on it."""
    why: str = ""
    """The end of CI's text."""
    judged: int = 0
    """How many candidates of the work CI has judged so: each is a commit of its own."""


LOST_MOST: Final = 3
"""How often CI may end without a verdict on the same work before a person is asked."""
Gesture = Literal["closed", "branch", "base", "draft"]
"""Its pull request was closed, its branch was deleted, its base was changed, or a
convoy's own was made a draft."""


class TakenOut(Struct, frozen=True, kw_only=True):
    gesture: Gesture
    pull: int
    base: str = ""
    """What its base was changed to; empty: it was not."""

    @property
    def why(self) -> str:
        pull = f"pull request #{self.pull}"
        return {
            "closed": f"{pull} was closed",
            "branch": f"the branch of {pull} was deleted",
            "base": f"the base of {pull} was changed to {self.base}",
            "draft": f"{pull} was converted to a draft",
        }[self.gesture]

    @property
    def back(self) -> str:
        """What must happen for the work to be taken back: `it waits for …`."""
        pull = f"pull request #{self.pull}"
        return {
            "closed": f"someone to reopen {pull} or say /brat merge there",
            "branch": f"a person to restore the branch of {pull} and reopen it",
            "base": f"a person to change the base of {pull} back",
            "draft": f"{pull} to be marked as ready for review",
        }[self.gesture]

    @property
    def waits(self) -> str:
        return f"{self.why}, so it is waiting for {self.back}"


Way = Literal["push", "merge", "queue", "person"]
"""The bot pushes, asks the forge to merge, asks the forge's queue; or a person merges,
because the rules let the bot do none of these."""


class Landing(Struct, frozen=True, kw_only=True):
    """How a convoy lands under its target's rules."""

    way: Way = "push"
    method: Strategy = "merge"
    """How the forge merges; unused for a push."""
    reviews: int = 0
    """How many approving reviews its pull request needs."""
    checks: tuple[str, ...] = ()
    """The checks that the rules name."""
    waits: tuple[str, ...] = ()
    """What else the rules require from people, in a few words each."""
    unknown: tuple[str, ...] = ()
    """The rules that the bot cannot read; the first refusal shows them."""
    learnt: tuple[str, ...] = ()
    """Names of rules that no list showed but a refusal did."""


class TargetRules(Struct, frozen=True, kw_only=True):
    """What a forge asks for before a branch moves."""

    pull_request: bool = False
    reviews: int = 0
    owners: bool = False
    """Whether the owners of the code must review it."""
    resolved: bool = False
    """Whether every conversation must be resolved."""
    checks: tuple[str, ...] = ()
    reporters: dict[str, int] = {}
    """The number of the App that must report a check, by the check's name."""
    linear: bool = False
    signed: bool = False
    queue: bool = False
    frozen: bool = False
    """Whether nobody may move it who may not pass the rules by."""
    deployed: tuple[str, ...] = ()
    """The environments to which the work must have been deployed."""
    methods: tuple[Strategy, ...] = ("merge", "squash", "rebase")
    passes: bool = False
    """Whether the bot may pass all of these by."""
    unknown: tuple[str, ...] = ()
    """What the bot may not read."""


class Push(Struct, frozen=True, kw_only=True):
    """A commit that somebody pushed to a branch of ours, and that no session made."""

    commit: str
    files: tuple[str, ...] = ()
    """What it changes, as far as it was read."""
    ci_files: tuple[str, ...] = ()
    """Those that tell CI what to run."""
    faults: tuple[str, ...] = ()
    """What the gate would say of an agent that had made it, a sentence each."""

    @property
    def back(self) -> str:
        """What must happen for it to go on: `it waits for …`."""
        return f"a decision about {self.commit[:10]}, which was pushed to its branch"


class TargetSync(Struct, frozen=True, kw_only=True):
    """What was taken in of the target, and what is being tried."""

    target: str = ""
    """The target's commit that was taken in last; empty: the one it began at."""
    commit: str = ""
    """The commit of the convoy's branch that took it in."""
    candidate: Candidate | None = None
    """A merge of both tips that CI judges; its `work` is the target's commit."""
    at: int = 0
    """When any of this changed last, unix ms."""
    reds: int = 0
    """How often in a row CI found the branch red with the target taken in."""
    lost: int = 0
    """How often CI ended without a verdict on what takes the target in."""
    left: str = ""
    """The target's commit that could not be taken in last; empty: the last could."""
    stalled: str = ""
    """Why landing waits for a person; empty: it does not."""

    @property
    def judged(self) -> int:
        """How many candidates CI was shown that did not land."""
        return self.reds + self.lost


class Intent(Struct, frozen=True, kw_only=True):
    """An announced action that is not yet noted as done."""

    key: str
    kind: ids.ActionKind
    convoy: str
    task: int
    attempt: int
    issue: int = 0
    comment: int = 0
    reaction: Reaction = ""
    text: str = ""

    @property
    def item(self) -> str:
        """The item that it belongs to.

        A task whose session or pull request is refused waits as a whole.
        """
        if self.kind in ("dispatch", "pull"):
            return ids.task_item(self.convoy, self.task)
        return ids.item("action", self.key)


LOOK_BACK_MS: Final = 3 * 86_400_000
"""How far back a new process looks for comments at most."""
SKEW_MS: Final = 10 * 60_000
"""How far the forge's clock may differ from the log's."""


class GivenAnswers(Struct, frozen=True, kw_only=True):
    at: dict[str, int] = {}
    """When each answer was announced, unix ms, by its key."""
    told: str = ""
    """The key of the answer that said that it is enough; empty: none did."""
    told_at: int = 0
    """When that was announced, unix ms."""
    quiet: tuple[int, ...] = ()
    """When that was announced lately, for as long as a new process looks back."""

    def is_ignored(self, at: int) -> bool:
        """Whether a comment of this moment is ignored for good, unix ms.

        No event says so of each: who writes much would make the log grow.
        """
        return any(told - SKEW_MS <= at < told + ids.HOUR_MS for told in self.quiet)


def of_last_hour(had: GivenAnswers, now: int) -> GivenAnswers:
    since = now - ids.HOUR_MS
    at = {key: at for key, at in had.at.items() if at > since}
    quiet = tuple(told for told in had.quiet if told > now - LOOK_BACK_MS - ids.HOUR_MS)
    if had.told_at <= since:
        return GivenAnswers(at=at, quiet=quiet)
    return replace(had, at=at, quiet=quiet)


class ShownAnswer(Struct, frozen=True, kw_only=True):
    by: str
    text: str
    """Markdown."""
    issue: int
    """The issue or pull request."""
    comment: int = 0
    """The comment that asked; 0: a review, a tick or a button did."""


class ConvoySummary(Struct, frozen=True, kw_only=True):
    """The few fields by which convoys that rest are found and counted."""

    issue: int
    by: str
    state: str
    requested_at: int
    ended_at: int
    pulls: tuple[int, ...]
    """Its own pull request and those of its tasks."""
    tasks: dict[str, int]
    """How many tasks are in which state."""
    used: Usage
    """What its ended sessions used, planning included."""


class Summarized(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> ConvoySummary: ...


C = TypeVar("C", bound=Summarized)


class Packed(Generic[C]):
    """A convoy as bytes, unpacked when it is first asked for."""

    __slots__ = ("_unpack", "_whole", "data", "summary")

    def __init__(
        self, summary: ConvoySummary, data: bytes, unpack: Callable[[bytes], C]
    ) -> None:
        self.summary = summary
        self.data = data
        self._unpack = unpack
        self._whole: C | None = None

    @property
    def whole(self) -> C:
        """The convoy; the same object each time."""
        if self._whole is None:
            self._whole = self._unpack(self.data)
        return self._whole


class Convoys(Mapping[str, C]):
    """The convoys; never changed, a change gives a new value."""

    __slots__ = ("_order", "at_hand", "packed")

    def __init__(
        self,
        at_hand: Mapping[str, C] | None = None,
        packed: Mapping[str, Packed[C]] | None = None,
        order: tuple[str, ...] = (),
    ) -> None:
        self.at_hand: Mapping[str, C] = at_hand or {}
        """Those that are not packed."""
        self.packed: Mapping[str, Packed[C]] = packed or {}
        self._order = order or (*self.packed, *self.at_hand)

    def having(self, convoy: C) -> "Convoys[C]":
        """Return these with `convoy` replacing the one of its name, or as the last."""
        name = convoy.name
        at_hand, packed = {**self.at_hand, name: convoy}, self.packed
        if name in self.at_hand:
            return Convoys(at_hand, packed, self._order)
        if name not in packed:
            return Convoys(at_hand, packed, (*self._order, name))
        packed = {key: value for key, value in packed.items() if key != name}
        at_hand = {key: at_hand[key] for key in self._order if key in at_hand}
        return Convoys(at_hand, packed, self._order)

    def packing(
        self, rests: Callable[[C], bool], pack: Callable[[C], Packed[C]]
    ) -> "Convoys[C]":
        resting = {
            name: pack(convoy) for name, convoy in self.at_hand.items() if rests(convoy)
        }
        if not resting:
            return self
        held = {**self.packed, **resting}
        at_hand = {
            name: convoy for name, convoy in self.at_hand.items() if name not in resting
        }
        packed = {name: held[name] for name in self._order if name in held}
        return Convoys(at_hand, packed, self._order)

    def summaries(self) -> Iterator[tuple[str, ConvoySummary]]:
        for name in self._order:
            held = self.packed.get(name) or self.at_hand[name]
            yield name, held.summary

    def newest_first(self) -> Iterator[C]:
        return (self[name] for name in reversed(self._order))

    def __getitem__(self, name: str) -> C:
        if name in self.at_hand:
            return self.at_hand[name]
        return self.packed[name].whole

    def __contains__(self, name: object) -> bool:
        return name in self.at_hand or name in self.packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __repr__(self) -> str:  # the form of a checkpoint is made of it
        return f"Convoys({[*self._order]})"
