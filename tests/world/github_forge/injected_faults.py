"""Refusals that a story asks for: this write is answered so, until that is lifted.

They lie in a file of the forge's folder, so that a story reaches the forge whether it
is served in the same process or as the CLI's child (tests/world/extended.py).
"""

import re
import time
from pathlib import Path
from typing import Final

from msgspec import Struct, json

from brat.forge.resources.wire import API, Refused
from brat.forge.rest.rest_call import Call
from tests.world.traffic import Exchange

_RULES: Final = "faults.json"
_MET: Final = "faults-met.jsonl"


class Rule(Struct, frozen=True, kw_only=True):
    """Which calls are refused, and how."""

    number: int
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


class Met(Struct, frozen=True, kw_only=True):
    """A call that a rule met."""

    rule: int
    method: str
    path: str
    status: int
    """What it was refused with; 0: it was let through."""
    at: float
    """Unix seconds."""


class Faults:
    """The refusals of the forge in one folder, seen by the story and by the forge."""

    def __init__(self, folder: Path, by: str = "") -> None:
        """Look at the forge in `folder`; it refuses `by` alone, or everybody."""
        self._by = by
        self._rules = folder / _RULES
        self._met = folder / _MET

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
        known = self.rules()
        rule = Rule(
            number=time.monotonic_ns(),
            method=method,
            path=path_pattern,
            status=status,
            said=said,
            times=times,
            by=self._by,
        )
        self._write([*known, rule])
        return rule

    def lift(self, rule: Rule | None = None) -> None:
        """Refuse no more, or not by this rule; what was met stays known."""
        self._write([one for one in self.rules() if rule is not None and one != rule])

    def rules(self) -> list[Rule]:
        """Return what holds now."""
        try:
            return json.decode(self._rules.read_bytes(), type=list[Rule])
        except FileNotFoundError:
            return []

    def met(self) -> list[Met]:
        """Return every call that a rule met, oldest first, also those let through."""
        try:
            return json.Decoder(Met).decode_lines(self._met.read_bytes())
        except FileNotFoundError:
            return []

    def refused(self) -> list[Met]:
        """Return the calls that were refused, oldest first."""
        return [one for one in self.met() if one.status]

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
        for rule in self.rules():
            is_meant = rule.by in {"", call.user.login}
            fits = is_meant and re.fullmatch(rule.method, method)
            if fits and re.fullmatch(rule.path, path):
                earlier = sum(one.rule == rule.number for one in self.met())
                refuses = rule.times is None or earlier < rule.times
                self._note(rule, method, path, rule.status if refuses else 0)
                if refuses:
                    raise Refused(rule.status, rule.said)
        return {}

    def _note(self, rule: Rule, method: str, path: str, status: int) -> None:
        met = Met(
            rule=rule.number, method=method, path=path, status=status, at=time.time()
        )
        with self._met.open("ab") as file:
            file.write(json.encode(met) + b"\n")

    def _write(self, rules: list[Rule]) -> None:
        new = self._rules.with_suffix(".new")
        new.write_bytes(json.encode(rules))
        new.replace(self._rules)
