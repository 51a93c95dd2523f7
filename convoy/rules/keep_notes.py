"""What an agent leaves for others: notes, and further work that may become tasks.

Further work from a task that was itself further work waits for a person, whatever the
configuration says: agents do not feed each other.
"""

from convoy.events.command import Command, Decision, Events, Refusal, in_session
from convoy.events.task_notes import TaskNoted
from convoy.model.notes import Left, bounded
from convoy.model.records import Followup, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.rules.plan_changes import AddTask

_ASKED = "an agent asked for it that worked on a task which an agent had asked for"


class NoteTask(Command, frozen=True, kw_only=True):
    """An attempt's agent left notes for others; the shell has cleaned them."""

    convoy: str
    task: int
    attempt: int
    left: Left

    def decide(self, state: State) -> Decision:
        """Keep what the current attempt's agent left."""
        task = in_session(state, self.convoy, self.task, self.attempt)
        if isinstance(task, Refusal):
            return task
        left = bounded(self.left)
        convoy = state.convoys[self.convoy]
        followups: tuple[Followup, ...] = ()
        tasks: Events = ()
        if convoy.settings.followups != "off":
            followups, tasks = _followed(state, convoy, task, left.followups)
        if not (left.notes or left.shared or followups):
            return Refusal("the agent noted nothing")
        noted = TaskNoted(
            convoy=convoy.name,
            task=task.number,
            attempt=self.attempt,
            notes=left.notes,
            shared=left.shared,
            followups=followups,
        )
        return (noted, *tasks)


def _followed(
    state: State, convoy: Convoy, task: Task, titles: tuple[str, ...]
) -> tuple[tuple[Followup, ...], Events]:
    """Return the further work with its fate, and the tasks that it becomes."""
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
            state = event.change(state)
    return tuple(found), events


def _add(state: State, convoy: Convoy, task: Task, spec: TaskSpec) -> Decision:
    if task.spec.follows:
        return Refusal(_ASKED)
    by = f"the agent of task {task.number}"
    return AddTask(convoy=convoy.name, spec=spec, by=by).decide(state)


def _spec(convoy: Convoy, task: Task, title: str) -> TaskSpec:
    told = (
        f"{title}\n\nThe agent that worked on task {task.number} "
        f"({task.spec.title}) saw that this is to be done, too."
    )
    return TaskSpec(
        number=convoy.next_number,
        title=title,
        instructions=told,
        after=(task.number,),
        engine=task.spec.engine,
        why=f"the agent of task {task.number} asked for it",
        follows=task.number,
    )
