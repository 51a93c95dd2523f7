"""How an engine comes to plan a convoy: its sessions, and the end of them."""

from convoy import ids
from convoy.commands import PlanConvoy, StartPlanning
from convoy.decide.lookup import in_session, in_state
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import ActionIntended, TaskDropped, TaskMerged, TaskStarted
from convoy.queue import plannable
from convoy.state import Convoy, State


def start(state: State, command: StartPlanning) -> Decision:
    """Begin an attempt at the plan, from the commit the convoy starts at."""
    convoy = in_state(state, command.convoy, "planning")
    if isinstance(convoy, Refusal):
        return convoy
    mayor = convoy.mayor
    if mayor is None or not plannable(convoy, mayor):
        return Refusal(f"nobody is to plan {convoy.name} now")
    if mayor.not_before > command.now:
        return Refusal("the plan waits for the model's vendor")
    attempt = mayor.started + 1
    started = TaskStarted(
        convoy=convoy.name,
        task=0,
        attempt=attempt,
        session=command.session,
        nonce=command.nonce,
        base=convoy.base,
        branch=ids.task_branch(convoy.name, 0),
        title=mayor.spec.title,
        instructions=mayor.spec.instructions,
        kind="plan",
        brief=command.brief,
        notes=mayor.notes,
        engine=convoy.settings.engines[mayor.spec.engine],
        limits=convoy.settings.limits,
        gate=convoy.settings.gate,
        egress=convoy.settings.egress,
    )
    intent = ActionIntended(
        key=ids.dispatch_key(ids.session_name(convoy.name, 0, attempt)),
        kind="dispatch",
        convoy=convoy.name,
        task=0,
        attempt=attempt,
    )
    return (started, intent)


def answered(state: State, convoy: Convoy, command: PlanConvoy) -> Events | Refusal:
    """Return how the planning ends with a plan: by a session's answer, or without."""
    mayor = convoy.mayor
    if command.attempt:
        found = in_session(state, convoy.name, 0, command.attempt)
        if isinstance(found, Refusal):
            return found
        return (TaskMerged(convoy=convoy.name, task=0, usage=command.usage),)
    if mayor is None or mayor.settled:
        return ()
    if mayor.attempt is not None or mayor.state != "blocked":
        return Refusal(f"an engine plans {convoy.name}")
    return (TaskDropped(convoy=convoy.name, task=0, why=mayor.why),)
