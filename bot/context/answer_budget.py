"""Counts the answers that each person had lately, so that nobody can have them all."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from convoy.model.work import HOUR_MS, GivenAnswers

PEOPLE: Final = 1_000
"""The most people remembered; those who had no answer for longest are forgotten."""


@dataclass
class _Had:
    """What one person had within the last hour."""

    answers: dict[str, int] = field(default_factory=dict)
    """When each answer was given, unix ms, by the key of what it answers."""
    told: tuple[str, int] = ("", 0)
    """The key of what was answered by saying that it is enough, and when."""


@dataclass
class AnswerBudget:
    """The answers of the last hour; of a bounded size, however many people ask.

    It knows what is not in the log yet, and learns from there what is.
    """

    _people: OrderedDict[str, _Had] = field(default_factory=OrderedDict)

    def recall(self, by: str, given: GivenAnswers | None) -> None:
        """Take over what the log tells of somebody: another process may have written.

        Args:
            by: the person.
            given: what the log tells; None: nothing.
        """
        if given is None:
            return
        had = self._people.setdefault(by.casefold(), _Had())
        had.answers = {**had.answers, **given.at}
        if given.told and given.told_at > had.told[1]:
            had.told = given.told, given.told_at

    def spent(self, by: str, key: str, now: int) -> int:
        """Return how many answers somebody had, without the one under `key`."""
        return len(self._had(by, now).answers.keys() - {key})

    def spend(self, by: str, key: str, now: int) -> None:
        """Count an answer; one under the same key counts once."""
        self._had(by, now).answers.setdefault(key, now)

    def may_tell(self, by: str, key: str, now: int) -> bool:
        """Whether to say that it is enough: once an hour, by the answer under `key`."""
        had = self._had(by, now)
        if not had.told[0]:
            had.told = key, now
        return had.told[0] == key

    def again_at(self, by: str, now: int) -> int:
        """Return when the next answer may be given, unix ms."""
        return min(self._had(by, now).answers.values(), default=now) + HOUR_MS

    def _had(self, by: str, now: int) -> _Had:
        """Return what somebody had within the last hour."""
        had = self._people.setdefault(by.casefold(), _Had())
        self._people.move_to_end(by.casefold())
        if len(self._people) > PEOPLE:
            self._people.popitem(last=False)
        since = now - HOUR_MS
        had.answers = {key: at for key, at in had.answers.items() if at > since}
        if had.told[1] <= since:
            had.told = ("", 0)
        return had
