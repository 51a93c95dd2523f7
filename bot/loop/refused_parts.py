"""Finds the part of a draft that the remote refuses, and lets all others go on.

Most remotes name the ref they refuse. Where none is named, halves are tried: first the
log alone, then what was never refused, then groups that get smaller until one item is
left in a group.
"""

from dataclasses import dataclass, field
from typing import Final

from bot.context.item_failures import for_refusal
from bot.forge.refusals import refusal_of_push
from bot.repository.draft import Draft
from convoy.events.forge_actions import SetItemAside
from convoy.model.ids import LOG_ITEM, task_item
from convoy.model.state import set_aside
from grite.errors import Rejected
from grite.push_answer import PushAnswer

Group = frozenset[str]
BUDGET: Final = 6
"""How many pushes the remote may refuse in a minute."""
MINUTE_MS: Final = 60_000


class LogRefused(Rejected):
    """The remote refuses the log itself: nothing can land."""


@dataclass(kw_only=True)
class RefusedParts:
    """What one process knows of the pushes that were refused; for one event loop."""

    _groups: list[Group] = field(default_factory=list)
    """The groups still to be tried, each in a push of its own."""
    _log: tuple[int, LogRefused] | None = None
    """Until when the log is not pushed, unix ms, and why."""
    _refused_at: list[int] = field(default_factory=list)
    """When pushes were refused in the last minute, unix ms."""

    @property
    def only(self) -> Group | None:
        """The items whose refs may move in the next push; None: all."""
        return self._groups[0] if self._groups else None

    def free_at(self, now: int) -> int:
        """Return when the next push may be sent after the refused ones, unix ms."""
        self._refused_at = [at for at in self._refused_at if at > now - MINUTE_MS]
        over = len(self._refused_at) - BUDGET
        return self._refused_at[over] + MINUTE_MS if over >= 0 else now

    def goes_on(self, now: int) -> bool:
        """Whether another group may be tried now; else the minute is waited for."""
        return self.only is not None and self.free_at(now) <= now

    def check(self, now: int) -> None:
        """Check that the log may be pushed: less than a minute ago it was refused.

        Raises:
            LogRefused: as then.
        """
        if self._log is not None and now < self._log[0]:
            raise self._log[1]

    def taken(self, draft: Draft) -> None:
        """Note that a push arrived; its group holds nothing that is refused."""
        if draft.only == self.only:
            del self._groups[:1]

    def blame(self, draft: Draft, error: Rejected) -> tuple[SetItemAside, ...]:
        """Return the items to set aside after a refused push.

        None at all: the next, smaller group is tried.

        Raises:
            LogRefused: the log's own refs are refused.
        """
        self._refused_at.append(draft.now)
        answer = error.answer
        named = {draft.item_of(each.ref): each for each in answer.refused}
        if LOG_ITEM in named or not draft.parts:
            self._groups.clear()
            refused = LogRefused(error.argv, error.status, error.stderr, answer)
            self._log = draft.now + MINUTE_MS, refused
            raise refused
        if named:
            above = _standing(draft) & named.keys()
            blamed = {item: each for item, each in named.items() if item not in above}
            self._forget(frozenset(named))
            if above and not blamed:  # what they stand on is tried without them
                self._groups = [draft.parts - above, above, *self._groups]
            return tuple(
                for_refusal(item, refusal_of_push(each.said or answer.said, each.ref))
                for item, each in blamed.items()
            )
        return self._halved(draft, answer)

    def _forget(self, items: Group) -> None:
        self._groups = [group - items for group in self._groups]

    def _halved(self, draft: Draft, answer: PushAnswer) -> tuple[SetItemAside, ...]:
        parts, first = draft.parts, not self._groups
        del self._groups[:1]
        if first:
            refused = {item for item in parts if set_aside(draft.state, item)}
            fresh, again = parts - refused, frozenset(refused)
            both = [fresh, again] if fresh and again else _halves(parts)
            self._groups = [frozenset(), *both]
            return ()
        if len(parts) == 1:
            return tuple(
                for_refusal(item, refusal_of_push(answer.said, "")) for item in parts
            )
        self._groups = [*_halves(parts), *self._groups]
        return ()


def _standing(draft: Draft) -> Group:
    """Return the tasks whose candidates stand on others of the same push.

    They hold those others' changes: a server that refuses these refuses both.
    """
    found = set()
    for convoy in draft.state.live():
        made = {
            task.candidate.commit: task_item(convoy.name, task.number)
            for task in convoy.tasks
            if task.candidate is not None
        }
        for task in convoy.tasks:
            below = made.get(task.candidate.base) if task.candidate else None
            if below in draft.parts:
                found.add(task_item(convoy.name, task.number))
    return frozenset(found)


def _halves(parts: Group) -> tuple[Group, ...]:
    listed = sorted(parts)
    middle = len(listed) // 2
    return tuple(frozenset(half) for half in (listed[:middle], listed[middle:]) if half)
