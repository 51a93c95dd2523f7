"""Say what waits for a person: all of a command's own convoy, a line for each other."""

from collections.abc import Iterator

from brat.local.local_mode import Local
from convoy.gate.protected_needs import forbidden, unallowed
from convoy.kinds.relations import is_stopped
from convoy.model.asides import asides, convoy_of_item
from convoy.model.state import Convoy, State, Task
from convoy.readiness.attempt_start import kept_by_leases
from convoy.views.reasons import holding

_ONCE = "  once that is put right: "


def tell_waiting(local: Local, own: str) -> bool:
    """Say what needs a person; return whether anything of one's own does.

    Args:
        local: the running system.
        own: the convoy that the command is about, by name; empty: each is.
    """
    context = local.loop.context
    state = context.mirror.state
    told = False
    for convoy in state.live():
        lines = [*_of_convoy(convoy)]
        if own in ("", convoy.name):
            told = told or bool(lines)
        elif lines:
            lines = [_of_other(convoy)]
        for line in lines:
            local.tell(line)
    lines = [*_aside(state), *context.troubles.values()]
    for line in (*lines, *locked(local)):
        local.tell(line)
    failed = any(
        convoy.state == "failed" and convoy.ended_at >= local.begun_at
        for convoy in state.convoys.values()
        if own in ("", convoy.name)
    )
    return told or bool(lines) or failed


def locked(local: Local) -> Iterator[str]:
    """Yield what to say of each lock that alone keeps a task from starting."""
    context = local.loop.context
    for convoy, task, leases in kept_by_leases(context.mirror.state, context.clock()):
        for lease in leases:
            yield (
                f"{convoy.name}: task {task.number} waits: {holding(lease)}; it goes "
                f"on then, or after: brat lock release {lease.resource}"
            )


def _of_convoy(convoy: Convoy) -> Iterator[str]:
    for task in _stopped(convoy):
        why, _, more = task.why.partition("\n\n")
        rest = f" (all of it: brat why {task.number})" if more else ""
        yield f"{convoy.name}: task {task.number} is blocked: {why}{rest}"
        wants = unallowed(task, convoy.settings.gate)
        word = ("drop" if forbidden(wants) else "allow") if wants else "retry"
        yield f"{_ONCE}brat task {word} {task.number}"
    if convoy.sync.stalled:
        yield f"{convoy.name}: its landing waits: {convoy.sync.stalled}"
        yield f"{_ONCE}brat convoy retry {convoy.name}"
    if convoy.settled and convoy.landing_waits:
        what = f"pull request #{convoy.pull} waits for {convoy.landing_waits}"
        yield f"{convoy.name}: {what}"


def _of_other(convoy: Convoy) -> str:
    numbers = [str(task.number) for task in _stopped(convoy)]
    what = f"blocked: {', '.join(numbers)}" if numbers else "its landing waits"
    return f"{convoy.name} needs somebody, too ({what}): brat status says why"


def _stopped(convoy: Convoy) -> list[Task]:
    return [task for task in convoy.tasks if is_stopped(convoy, task)]


def _aside(state: State) -> Iterator[str]:
    for item, each in asides(state):
        yield f"{item} is set aside: {each.why}"
        if name := convoy_of_item(state, item):
            yield f"{_ONCE}brat convoy retry {name}"
