"""Changes that people make to a plan that is being carried out."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent, TaskEvent, clause
from convoy.model.records import TaskSpec, Wait
from convoy.model.state import Convoy, Moment, State, Task


class TaskAdded(ConvoyEvent, frozen=True, kw_only=True, tag="task.added"):
    """A person added a task to the plan."""

    spec: TaskSpec
    """The task, as if it had been planned."""
    by: str

    def sentence(self) -> str:
        return f"{self.by} added task {self.spec.number}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        added = Task(spec=self.spec).after_words_of(self.by)
        return replace(convoy, tasks=(*convoy.tasks, added))


class TaskLinked(TaskEvent, frozen=True, kw_only=True, tag="task.linked"):
    """The task waits until another one is merged, too."""

    on: int
    """The other task's number."""
    by: str
    """Who asked; empty: the bot, because their work overlaps."""
    why: str = ""
    """The reason, when the bot did it by itself."""

    def sentence(self) -> str:
        why = f": {clause(self.why)}" if self.why else ""
        by = f"{self.by} lets" if self.by else "The bot lets"
        return f"{by} task {self.task} wait for task {self.on}{why}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        why = Wait(self.on, self.why or f"{self.by} said so", overlap=not self.by)
        linked = replace(
            task.spec,
            after=tuple(sorted({*task.spec.after, self.on})),
            waits=(*task.spec.waits, why),
        )
        return replace(task, spec=linked)


class TaskRewritten(TaskEvent, frozen=True, kw_only=True, tag="task.rewritten"):
    """The task is another one in the plan, because a person changed the plan."""

    spec: TaskSpec
    """The task, as if it had been planned so; its number stays."""
    by: str

    def sentence(self) -> str:
        return f"{self.by} changed task {self.task} in the plan."

    def task_after(self, task: Task, _now: Moment) -> Task:
        if self.spec.number != task.number:
            return task  # no rule of ours gives a task another number
        is_told = self.spec.instructions != task.spec.instructions
        return replace(task.after_words_of(self.by if is_told else ""), spec=self.spec)


class ConvoyReplanned(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.replanned"):
    """A person wants another plan; the engine that planned is told why."""

    by: str
    text: str
    """What they said."""

    def sentence(self) -> str:
        return f"{self.by} wants another plan."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.mayor is None:
            return convoy  # no rule of ours replans what no engine planned
        mayor = convoy.mayor
        titles = "\n".join(f"{t.number}. {t.spec.title}" for t in convoy.tasks)
        told = (
            f"{mayor.spec.instructions}\n\nA plan was made of this:\n\n{titles}\n\n"
            f"{self.by} looked at it, and wants another one:\n\n{self.text}"
        )
        again = replace(
            mayor.after_words_of(self.by),
            spec=replace(mayor.spec, instructions=told),
            state="queued",
            cause="retry",
            why="",
            spent=0,
            notes=(),
            ended_at=0,
        )
        return replace(
            convoy,
            mayor=again,
            numbered=convoy.next_number - 1,
            tasks=(),
            overlaps=(),
            scopes=(),
            warnings=(),
            estimate=None,
            called=(),
        )


class TaskAssigned(TaskEvent, frozen=True, kw_only=True, tag="task.assigned"):
    """Another engine makes the task's next attempts."""

    engine: str
    """A name in the convoy's engines."""
    by: str

    def sentence(self) -> str:
        return f"{self.by} gave task {self.task} to the engine {self.engine}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, spec=replace(task.spec, engine=self.engine))


class TaskAllowed(TaskEvent, frozen=True, kw_only=True, tag="task.allowed"):
    """A person lets the task change protected paths."""

    paths: tuple[str, ...]
    by: str

    def sentence(self) -> str:
        return f"{self.by} lets task {self.task} change {', '.join(self.paths)}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, allowed=tuple(dict.fromkeys((*task.allowed, *self.paths))))


class ConvoyRanked(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.ranked"):
    """The convoy goes before or behind others."""

    priority: int
    """The rank from 0, which is first, to 2; a convoy begins with 1."""
    by: str

    def sentence(self) -> str:
        return f"{self.by} gave the convoy priority p{self.priority}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, priority=self.priority)


class RankConvoy(Command, frozen=True, kw_only=True):
    """A person wants the convoy before or behind others."""

    convoy: str
    priority: int
    by: str

    def decide(self, state: State) -> Decision:
        """Put the convoy before or behind others."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.priority == self.priority:
            return Refusal(f"{convoy.name} has priority p{self.priority} already")
        return (ConvoyRanked(convoy=convoy.name, priority=self.priority, by=self.by),)
