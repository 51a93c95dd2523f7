"""How people let a task change protected paths, and what waits for that."""

from convoy.events.command import Command, Decision, Events, Refusal, unsettled
from convoy.events.fact import clause
from convoy.events.plan_edits import TaskAllowed
from convoy.events.task_queue import TaskBlocked
from convoy.gate import forbidden, protected, unallowed, wants
from convoy.kinds import kind_of
from convoy.model.records import Gate, TaskSpec
from convoy.model.state import State, Task
from convoy.planner import own_words, paths_in
from convoy.rules.stop_task import RetryTask


class AllowPaths(Command, frozen=True, kw_only=True):
    """A person lets a task change protected paths."""

    convoy: str
    task: int
    by: str
    path: str = ""
    """One that its plan does not name; empty: those that it names."""

    def decide(self, state: State) -> Decision:
        """Allow the paths; a task that waited for it goes on."""
        task = unsettled(state, self.convoy, self.task)
        if isinstance(task, Refusal):
            return task
        gate = state.convoys[self.convoy].settings.gate
        asked = (self.path,) if self.path else named_paths(task.spec)
        found = protected(asked, gate)
        if kept := forbidden(found):
            return Refusal(f"no agent may change {kept[0]}: a person has to do it")
        new = tuple(path for path in found if path not in task.allowed)
        if not new:
            what = self.path or f"what the plan of task {task.number} names"
            if task.state == "blocked" and not unallowed(task, gate):
                why = clause(task.why)
                return Refusal(f"{what} is not what keeps it back, but this: {why}")
            return Refusal(f"{what} is not protected, or allowed already")
        allowed = TaskAllowed(
            convoy=self.convoy, task=task.number, paths=new, by=self.by
        )
        if task.state != "blocked":
            return (allowed,)
        again = RetryTask(convoy=self.convoy, task=task.number, by=self.by)
        queued = again.decide(allowed.change(state))
        return (allowed,) if isinstance(queued, Refusal) else (allowed, *queued)


def named_paths(spec: TaskSpec) -> tuple[str, ...]:
    """Return the paths that a task declares, and those that its words name."""
    words = paths_in(f"{spec.title}\n{own_words(spec)}")
    return tuple(dict.fromkeys((*spec.paths, *words)))


def kept_back(convoy: str, planned: tuple[TaskSpec | Task, ...], gate: Gate) -> Events:
    """Return that each task waits for a person that declares protected paths.

    Its work could not pass the gate: no session is spent on it before.
    """
    tasks = (t if isinstance(t, Task) else Task(spec=t) for t in planned)
    return tuple(
        TaskBlocked(convoy=convoy, task=task.number, why=wants(task.number, paths))
        for task in tasks
        if (paths := unallowed(task, gate)) and not kind_of(task.spec).answer
    )
