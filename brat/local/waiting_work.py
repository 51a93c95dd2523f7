"""Say what waits for a person: all of a command's own convoy, a line for each other."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from brat.local.local_mode import Local
from convoy.gate import forbidden, unallowed
from convoy.kinds import is_stopped
from convoy.model.ids import task_of_item
from convoy.model.state import Convoy, asides, convoy_of_item
from convoy.rules.starting import kept_by_leases
from convoy.views.reasons import holding

_ONCE: Final = "  once that is put right: "
_LANDING: Final = "its landing waits"


class _Wait(Struct, frozen=True):
    """One thing that waits for a person."""

    convoy: str
    """Empty: it belongs to none."""
    what: str
    """In two or three words."""
    task: int
    """0: it is not about one task."""
    lines: tuple[str, ...]
    """What to say of it, whole."""


def tell_waiting(local: Local, own: str) -> bool:
    """Say what needs a person; return whether anything of one's own does.

    Args:
        local: the running system.
        own: the convoy that the command is about, by name; empty: each is.
    """
    state = local.loop.context.mirror.state
    found = _found(local)
    told = False
    for name, waits in found.items():
        if own in ("", name) or not name:
            told = True
            for line in (line for wait in waits for line in wait.lines):
                local.tell(line)
        else:
            local.tell(_of_other(name, waits))
    failed = any(
        known.state == "failed" and known.ended_at >= local.begun_at
        for name, known in state.convoys.summaries()
        if own in ("", name)
    )
    return told or failed


def locked(local: Local) -> Iterator[str]:
    """Yield what to say of each lock that alone keeps a task from starting."""
    return (line for wait in _locked(local) for line in wait.lines)


def _found(local: Local) -> dict[str, list[_Wait]]:
    """Return what waits by the names of its convoys; by no name: what has none."""
    context = local.loop.context
    state = context.mirror.state
    live = tuple(state.live())
    found: dict[str, list[_Wait]] = {convoy.name: [] for convoy in live}
    for convoy in live:
        found[convoy.name] += _of_convoy(convoy, named=len(live) > 1)
    for item, aside in asides(state):
        name = convoy_of_item(state, item)
        found.setdefault(name, []).append(_aside(item, aside.why, name))
    for item, why in context.troubles.items():
        name = convoy_of_item(state, item)
        found.setdefault(name, []).append(_Wait(name, "in trouble", 0, (why,)))
    for wait in _locked(local):
        found.setdefault(wait.convoy, []).append(wait)
    return {name: waits for name, waits in found.items() if waits}


def _of_convoy(convoy: Convoy, *, named: bool) -> Iterator[_Wait]:
    """Yield what only a person puts right; `named`: its commands name the convoy."""
    name = convoy.name
    which = f" --convoy {name}" if named else ""
    for task in (task for task in convoy.tasks if is_stopped(convoy, task)):
        why, _, more = task.why.partition("\n\n")
        rest = f" (all of it: brat why {task.number}{which})" if more else ""
        wants = unallowed(task, convoy.settings.gate)
        said = f"{name}: task {task.number} is blocked: {why}{rest}"
        whose = f"{task.number}{which}"
        mends = (f"{_ONCE}brat task allow {whose}",) * (not forbidden(wants))
        if not wants:
            mends = (f"  to try it again: brat task retry {whose}",)
        drop = f"  to go on without it: brat task drop {whose}"
        yield _Wait(name, "blocked", task.number, (said, *mends, drop))
    if convoy.sync.stalled:
        said = f"{name}: its landing waits: {convoy.sync.stalled}"
        yield _Wait(name, _LANDING, 0, (said, f"{_ONCE}brat convoy retry {name}"))
    if convoy.settled and convoy.landing_waits:
        said = f"{name}: pull request #{convoy.pull} waits for {convoy.landing_waits}"
        yield _Wait(name, _LANDING, 0, (said,))


def _aside(item: str, why: str, convoy: str) -> _Wait:
    said = f"{item} is set aside: {why}"
    mend = (f"{_ONCE}brat convoy retry {convoy}",) if convoy else ()
    _, task = task_of_item(item) or ("", 0)
    return _Wait(convoy, "set aside", task, (said, *mend))


def _locked(local: Local) -> Iterator[_Wait]:
    context = local.loop.context
    for convoy, task, leases in kept_by_leases(context.mirror.state, context.clock()):
        lines = tuple(
            f"{convoy.name}: task {task.number} waits: {holding(lease)}; it goes "
            f"on then, or after: brat lock release {lease.resource}"
            for lease in leases
        )
        yield _Wait(convoy.name, "locked", task.number, lines)


def _of_other(name: str, waits: Sequence[_Wait]) -> str:
    """Return one line on a convoy that the command is not about."""
    kinds: dict[str, list[str]] = {}
    for wait in waits:
        numbers = kinds.setdefault(wait.what, [])
        if wait.task and str(wait.task) not in numbers:
            numbers.append(str(wait.task))
    what = "; ".join(
        f"{kind}: {', '.join(numbers)}" if numbers else kind
        for kind, numbers in kinds.items()
    )
    return f"{name} needs somebody, too ({what}): brat status says why"
