"""Refusals that a story asks for: this write is answered so, until that is lifted."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brat.forge.resources.wire import API, Refused
from brat.forge.rest.rest_call import Call
from tests.world.traffic import Exchange


@dataclass(frozen=True, eq=False)
class Rule:
    method: str
    """A regular expression for all of it."""
    path: str
    """A regular expression for all of it, without /api/v3."""
    status: int
    said: str
    times: int | None
    """How many are refused; None: all, until lifted."""
    by: str
    """The account that is refused; empty: all."""


@dataclass(frozen=True)
class Met:
    rule: Rule
    method: str
    path: str
    status: int
    """What it was refused with; 0: it was let through."""


_HELD: Final[dict[Path, tuple[list[Rule], list[Met]]]] = {}
"""The rules of each forge, and the calls that met them, oldest first."""


class Faults:
    """The refusals of the forge in one folder, seen by the story and by the forge."""

    def __init__(self, folder: Path, by: str = "") -> None:
        """Look at the forge in `folder`; it refuses `by` alone, or everybody."""
        self._by = by
        self._rules, self._met = _HELD.setdefault(folder, ([], []))

    def refuse(
        self,
        method: str,
        path_pattern: str,
        status: int,
        said: str,
        times: int | None = None,
    ) -> Rule:
        """Answer calls so from now on; of two rules that fit the older one counts.

        Method and path are regular expressions for the whole of each, the path without
        /api/v3, such as `POST|PATCH` and `.*/issues/1/comments`. So many `times` are
        refused; None: all, until lifted; 0: none, they are only met.
        """
        rule = Rule(method, path_pattern, status, said, times, self._by)
        self._rules.append(rule)
        return rule

    def lift(self, rule: Rule | None = None) -> None:
        """Refuse no more, or not by this rule; what was met stays known."""
        self._rules[:] = [each for each in self._rules if rule not in {None, each}]

    def met(self) -> list[Met]:
        """Return every call that a rule met, oldest first, also those let through."""
        return self._met

    def refused(self) -> list[Met]:
        """Return the calls that were refused, oldest first."""
        return [one for one in self._met if one.status]

    def answered(self, exchange: Exchange) -> bool:
        """Say whether a refusal is one that a story asked for."""
        here = exchange.method, exchange.path, exchange.status
        return here in {(one.method, one.path, one.status) for one in self.refused()}

    def guard(self, call: Call) -> dict[str, str]:
        """Let a call through, or refuse it; for `Extension.guards`.

        Raises `Refused`: a rule says so.
        """
        method = call.request.method
        path = call.request.path.removeprefix(API)
        for rule in self._rules:
            is_meant = rule.by in {"", call.user.login}
            fits = is_meant and re.fullmatch(rule.method, method)
            if fits and re.fullmatch(rule.path, path):
                earlier = sum(one.rule is rule for one in self._met)
                refuses = rule.times is None or earlier < rule.times
                status = rule.status if refuses else 0
                self._met.append(Met(rule, method, path, status))
                if refuses:
                    raise Refused(rule.status, rule.said)
        return {}
