"""How people reshape a plan: they split a task, join two, or want another plan."""

from collections.abc import Iterator

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Events, Refusal, in_state
from convoy.events.plan_edits import ConvoyReplanned, TaskAllowed, TaskRewritten
from convoy.events.task_ends import TaskDropped
from convoy.events.task_queue import TaskQueued
from convoy.events.task_split import TaskSplit
from convoy.kinds import kind_of
from convoy.model.records import TaskSpec, Wait
from convoy.model.state import Convoy, State, Task
from convoy.planner import own_words
from convoy.planner.tasklist import ACCEPTANCE_CHARS, INSTRUCTIONS_CHARS, TITLE_CHARS
from convoy.rules.allow_paths import kept_back
from convoy.rules.plan_changes import at_rest
from convoy.rules.split_task import split_fault
from convoy.rules.take_plan import fault_of
from convoy.text import cut


class PartTask(Command, frozen=True, kw_only=True):
    """A person wrote the parts that a task is to be done in."""

    convoy: str
    task: int
    parts: tuple[TaskSpec, ...]
    by: str

    def decide(self, state: State) -> Decision:
        """Replace a task that is at rest by its parts."""
        task = _whole_work(state, self.convoy, self.task)
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        if fault := split_fault(convoy, task, self.parts):
            return Refusal(fault)
        left = [each for each in convoy.tasks if each.state != "dropped"]
        if len(left) + len(self.parts) - 1 > convoy.settings.tasks:
            return Refusal(f"a convoy may have {convoy.settings.tasks} tasks here")
        name, numbers = convoy.name, ", ".join(str(p.number) for p in self.parts)
        why = f"it was split by {self.by}: {numbers}"
        return (
            TaskSplit(
                convoy=name, task=task.number, by=0, person=self.by, parts=self.parts
            ),
            TaskDropped(convoy=name, task=task.number, why=why, wanted_by=self.by),
            *(
                TaskQueued(convoy=name, task=part.number, cause="planned")
                for part in self.parts
            ),
            *kept_back(name, self.parts, convoy.settings.gate),
        )


class JoinTasks(Command, frozen=True, kw_only=True):
    """A person wants two tasks done as one."""

    convoy: str
    task: int
    other: int
    by: str

    def decide(self, state: State) -> Decision:
        """Let the first task do both; nothing of either may have begun."""
        if self.task == self.other:
            return Refusal(f"task {self.task} is one task already")
        one = _whole_work(state, self.convoy, self.task)
        two = _whole_work(state, self.convoy, self.other)
        if isinstance(one, Refusal):
            return one
        if isinstance(two, Refusal):
            return two
        if begun := next((t.number for t in (one, two) if t.started), 0):
            return Refusal(f"task {begun} was tried already: it is too late for that")
        convoy = state.convoys[self.convoy]
        both = joined(one.spec, two.spec, self.by)
        if len(both.acceptance) > ACCEPTANCE_CHARS:
            return Refusal(
                f"their acceptance commands have more than {ACCEPTANCE_CHARS} "
                "characters together: let one run a script"
            )
        specs = {task.number: task.spec for task in convoy.tasks}
        after = {n: _moved(spec, one.number, two.number) for n, spec in specs.items()}
        after[one.number] = both
        del after[two.number]
        if fault := fault_of(convoy, tuple(after.values())):
            return Refusal(fault)
        why = f"{self.by} joined it with task {one.number}"
        return (
            *(
                TaskRewritten(convoy=convoy.name, task=n, spec=spec, by=self.by)
                for n, spec in after.items()
                if spec != specs[n]
            ),
            *_with_paths(convoy, one, two, self.by),
            TaskDropped(
                convoy=convoy.name, task=two.number, why=why, wanted_by=self.by
            ),
        )


class ReplanConvoy(Command, frozen=True, kw_only=True):
    """A person wants another plan, as their text says."""

    convoy: str
    by: str
    text: str

    def decide(self, state: State) -> Decision:
        """Ask the planner again, as long as the plan only waits for approval."""
        convoy = in_state(state, self.convoy, "planning")
        if isinstance(convoy, Refusal):
            return convoy
        if not convoy.tasks:
            return Refusal(f"{convoy.name} has no plan yet")
        if convoy.mayor is None or convoy.mayor.attempt is not None:
            return Refusal(
                "no engine made this plan, so none can make another: change it by "
                "add, drop, split, merge, depends and engine, or start anew with "
                "engine under [mayor] in .brat/config.toml"
            )
        return (ConvoyReplanned(convoy=convoy.name, by=self.by, text=self.text),)


def joined(one: TaskSpec, two: TaskSpec, by: str) -> TaskSpec:
    """Return one task that does what two do; the first one's engine makes it."""
    own = own_words(one)
    context = one.instructions.removeprefix(own)
    told = cut(f"{own}\n\n{own_words(two)}", max(1, INSTRUCTIONS_CHARS - len(context)))
    checks = [f"({each.acceptance})" for each in (one, two) if each.acceptance]
    pair = {one.number, two.number}
    waits = {w.on: w for w in (*one.waits, *two.waits) if w.on not in pair}
    return replace(
        one,
        title=cut(f"{one.title}; {two.title}", TITLE_CHARS),
        instructions=told + context,
        after=tuple(sorted({*one.after, *two.after} - pair)),
        paths=_once(one.paths + two.paths) if one.paths and two.paths else (),
        needs=_once(one.needs + two.needs),
        waits=tuple(waits.values()),
        acceptance=" && ".join(checks)
        if one.acceptance and two.acceptance
        else one.acceptance or two.acceptance,
        why=f"{by} joined tasks {one.number} and {two.number}",
    )


def _moved(spec: TaskSpec, one: int, two: int) -> TaskSpec:
    """Let what waits for the second task wait for the first."""
    if two not in spec.after or spec.number == one:
        return spec
    after = tuple(sorted({*spec.after, one} - {two}))
    known = any(wait.on == one for wait in spec.waits)
    moved: Iterator[Wait] = (
        Wait(one, wait.why, overlap=wait.overlap) if wait.on == two else wait
        for wait in spec.waits
        if not (known and wait.on == two)
    )
    return replace(spec, after=after, waits=tuple(moved))


def _with_paths(convoy: Convoy, one: Task, two: Task, by: str) -> Events:
    """Keep what people allowed, and wait where the joined task needs more."""
    both = joined(one.spec, two.spec, by)
    allowed = tuple(path for path in two.allowed if path not in one.allowed)
    events: Events = ()
    if allowed:
        event = TaskAllowed(convoy=convoy.name, task=one.number, paths=allowed, by=by)
        events = (event,)
    whole = replace(one, spec=both, allowed=(*one.allowed, *allowed))
    return (*events, *kept_back(convoy.name, (whole,), convoy.settings.gate))


def _whole_work(state: State, name: str, number: int) -> Task | Refusal:
    """Return a task that is at rest, is work, and that no other one is tied to."""
    task = at_rest(state, name, number)
    if isinstance(task, Refusal):
        return task
    tied = any(number in other.spec.on for other in state.convoys[name].tasks)
    if not kind_of(task.spec).is_work or task.spec.on or tied:
        return Refusal(f"task {number} is tied to another one, or is not work")
    return task


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
