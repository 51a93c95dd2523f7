"""What an agent leaves for others: kept, and further work made tasks where it may be.

Work that follows on a task that itself followed on another waits for a person, however
it is configured: agents do not feed each other.
"""

from convoy.commands import AddTask, NoteTask
from convoy.decide.edits import add
from convoy.decide.lookup import in_session
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import Followup, TaskNoted, TaskSpec
from convoy.evolve import evolve
from convoy.notes import bounded
from convoy.patterns.report import lines
from convoy.state import Convoy, State, Task

_ASKED = "an agent asked for it that worked on a task which an agent had asked for"


def note(state: State, command: NoteTask) -> Decision:
    """Keep what the current attempt's agent left."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    left = bounded(command.left)
    convoy = state.convoys[command.convoy]
    followups: tuple[Followup, ...] = ()
    tasks: Events = ()
    if convoy.settings.followups != "off":
        followups, tasks = _followed(state, convoy, task, left.followups)
    if not (left.notes or left.shared or followups):
        return Refusal("the agent noted nothing")
    noted = TaskNoted(
        convoy=convoy.name,
        task=task.number,
        attempt=command.attempt,
        notes=left.notes,
        shared=left.shared,
        followups=followups,
    )
    return (noted, *tasks)


def _followed(
    state: State, convoy: Convoy, task: Task, titles: tuple[str, ...]
) -> tuple[tuple[Followup, ...], Events]:
    """Return what becomes of further work, and the tasks that it becomes."""
    is_auto = convoy.settings.followups == "auto"
    known = {each.title for other in convoy.tasks for each in other.followups}
    found: list[Followup] = []
    events: Events = ()
    for title in (each for each in titles if each not in known):
        if not is_auto:
            found.append(Followup(title=title))
            continue
        spec = _spec(state.convoys[convoy.name], task, title)
        decision = _add(state, convoy, task, spec)
        if isinstance(decision, Refusal):
            found.append(Followup(title=title, why=decision.why))
            continue
        found.append(Followup(title=title, added=spec.number))
        events += decision
        for event in decision:
            state = evolve(state, event)
    return tuple(found), events


def _add(state: State, convoy: Convoy, task: Task, spec: TaskSpec) -> Decision:
    if task.spec.follows:
        return Refusal(_ASKED)
    by = f"the agent of task {task.number}"
    return add(state, AddTask(convoy=convoy.name, spec=spec, by=by))


def _spec(convoy: Convoy, task: Task, title: str) -> TaskSpec:
    told = (
        f"{title}\n\nThe agent that worked on task {task.number} "
        f"({task.spec.title}) saw that this is to be done, too."
    )
    return TaskSpec(
        number=max(each.number for each in convoy.tasks) + 1,
        title=title,
        instructions=told,
        after=(task.number,),
        engine=task.spec.engine,
        why=f"the agent of task {task.number} asked for it",
        follows=task.number,
    )


def handed(convoy: Convoy, task: Task) -> tuple[str, ...]:
    """Return what is handed to the next attempt at a task, and by whom."""
    before = (convoy.task(number) for number in task.spec.after)
    told = (
        f"task {other.number} ({other.spec.title}): {note}"
        for other in before
        if other is not None
        for note in other.learned
    )
    before = (convoy.task(number) for number in task.spec.after)
    found = (
        f"task {other.number} ({other.spec.title}) reports: {lines(other.report)}"
        for other in before
        if other is not None and other.report is not None
    )
    own = (f"an earlier attempt at this task: {note}" for note in task.learned)
    return (*found, *told, *own)
