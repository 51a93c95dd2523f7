"""Keeps each problem until it is over, and says when to try again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from bot.context.bot_context import BotContext
from bot.forge.pace import Limited
from bot.forge.rest import Refused
from grite.errors import BratError, Rejected

RETRY_S: Final = 1.0
REFUSED_MS: Final = 60_000
"""How long what is refused for good is not tried again."""
CUT: Final = frozenset({"token", "tick"})
"""The names of troubles that cut a whole tick short."""


@dataclass(kw_only=True)
class Troubles:
    """When to try again after each problem; the context holds the problems' texts."""

    context: BotContext
    tell: Callable[[str], None]
    resume_at: int = 0
    """Unix ms; the forge wants no requests before then."""
    _of_effects: set[str] = field(default_factory=set)
    _refused: dict[str, int] = field(default_factory=dict)
    """When each refused action is tried again, unix ms, by the trouble's name."""

    def note(self, name: str, error: BratError, *, of_effect: bool = False) -> None:
        """Keep an error under a name, and report it if its text is new."""
        if of_effect:
            self._of_effects.add(name)
        if isinstance(error, Limited):
            self.resume_at = max(self.resume_at, error.retry_at)
        now = self.context.clock()
        if not isinstance(error, Refused | Rejected):
            self._refused.pop(name, None)
        elif self._refused.get(name, 0) <= now:
            self._refused[name] = now + REFUSED_MS
        why = str(error)
        if self.context.troubles.get(name) != why:
            self.context.troubles[name] = why
            self.tell(why)

    def wait(self, name: str, why: str, until: int) -> None:
        """Keep why something waits until a moment (unix ms)."""
        self._refused[name] = until
        if self.context.troubles.get(name) != why:
            self.context.troubles[name] = why
            self.tell(why)

    def over(self, name: str) -> None:
        """Forget the error under a name. Safe to call twice."""
        self.context.troubles.pop(name, None)

    def keep_only(self, owed: set[str]) -> None:
        """Forget the errors of effects that are no longer owed."""
        for name in self.context.troubles.keys() & self._of_effects - owed:
            self.over(name)
            self._refused.pop(name, None)
        self._of_effects &= owed

    @property
    def retry_s(self) -> float:
        """How long to wait before the next tick.

        While the forge only limits writes, or refuses some for good, the wait is at
        most a sweep: the bot goes on looking.
        """
        context = self.context
        cut = CUT & context.troubles.keys()
        waits = [self._refused.get(name, 0) for name in cut or context.troubles]
        refused_until = (max if cut else min)(waits, default=0)
        left_s = (max(self.resume_at, refused_until) - context.clock()) / 1000
        return max(RETRY_S, left_s if cut else min(left_s, context.settings.sweep_s))
