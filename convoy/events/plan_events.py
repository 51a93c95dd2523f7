"""How an issue becomes a convoy with a plan, and what changes the plan later."""

from msgspec.structs import replace

from convoy.events import SHORT, ConvoyEvent, Event, Events, Refusal, TaskEvent, copied
from convoy.events.forge_actions import ActionIntended
from convoy.events.people_events import check_unpaused, task_again
from convoy.model import ids, records
from convoy.model.session_result import Left, bounded_notes, scratchpad_with
from convoy.model.state import Convoy, Moment, State, Task
from convoy.model.task_graph import relinked


class ConvoyRequested(Event, frozen=True, kw_only=True, tag="convoy.requested"):
    """An issue was accepted; later edits to its text have no effect."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    """The branch it lands on, without refs/heads/."""
    base: str
    """The target's tip when it was accepted; convoy/<name>/base starts there."""
    settings: records.Settings
    pattern: str = ""
    """The template for its plan, read from `base`; empty: none."""
    inputs: dict[str, str] = {}  # noqa: RUF012  msgspec copies it
    """The values that fill the template."""
    named: tuple[records.NamedIssue, ...] = ()
    """The issues to close when their tasks have landed."""
    listed: tuple[records.SubIssue, ...] = ()
    """The issue's open sub-issues, which form the plan; empty: there were none."""
    given: records.GivenPull | None = None
    """The pull request that it is about; null: it is about the issue."""

    def sentence(self) -> str:
        if self.given is not None:
            what = "land" if self.given.lands else "work on"
            head = self.given.head[:SHORT]
            return f"{self.by} asked brat to {what} #{self.issue} at {head}."
        return f"{self.by} requested convoy {self.convoy} in issue #{self.issue}."

    def decide(self, state: State) -> Events:
        """Accept an issue; the shell has checked the asker's right and the template."""
        if self.convoy in state.convoys:
            raise Refusal(f"convoy {self.convoy} already exists")
        check_unpaused(state)
        for convoy in state.live():
            if convoy.issue == self.issue:
                raise Refusal(
                    f"convoy {convoy.name} for issue #{self.issue} is not finished"
                )
        key = ids.comment_key(self.convoy)
        return (self, ActionIntended(key=key, kind="comment", convoy=self.convoy))

    def change(self, state: State) -> State:
        mayor, engine = None, self.settings.planner
        if engine:
            told = f"{self.title}\n\n{self.text}".strip()
            title = "Plan the work"
            spec = records.TaskSpec(
                number=0, title=title, instructions=told, engine=engine
            )
            mayor = Task(spec=spec)
        convoy = copied(
            Convoy,
            self,
            name=self.convoy,
            tip=self.given.head if self.given else "",
            pull=self.given.number if self.given and self.given.lands else None,
            requested_at=state.moment.at,
            mayor=mayor,
        )
        return state.with_convoy(convoy)


class SettingsTaken(ConvoyEvent, frozen=True, kw_only=True, tag="settings.taken"):
    """A changed configuration takes effect for a convoy that is in progress."""

    SAYS = "The configuration has changed; new attempts use the new version."
    settings: records.Settings

    def decide(self, state: State) -> Events:
        """Take over all but what is frozen; an engine that is gone stays known."""
        convoy = self.live(state)
        now, old = self.settings, convoy.settings
        kept = {name: getattr(old, name) for name in records.FROZEN}
        taken = replace(now, engines={**old.engines, **now.engines}, **kept)
        if taken == old:
            raise Refusal(f"{convoy.name} already uses this configuration")
        return (replace(self, settings=taken),)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, settings=self.settings)


class TargetRenamed(ConvoyEvent, frozen=True, kw_only=True, tag="target.renamed"):
    """The target is gone, and the convoy lands on what is now the default branch."""

    SAYS = "It now lands on {branch}."
    branch: str

    def decide(self, state: State) -> Events:
        if self.live(state).target == self.branch:
            raise Refusal(f"{self.convoy} already lands on {self.branch}")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, target=self.branch)


class ConvoyPlanned(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.planned"):
    """The convoy has a plan; it is active unless it waits for approval."""

    SAYS = "Planned {tasks:tasks} ({planner})."
    planner: str
    tasks: tuple[records.TaskSpec, ...]
    estimate: records.Estimate | None = None
    """What its tasks are likely to take; null: nothing is known."""
    warnings: tuple[str, ...] = ()
    """Remarks for readers of the plan, one sentence each, without a full stop."""

    scopes: tuple[records.Scope, ...] = ()
    """Its tasks' declared paths at the commit that the plan starts from."""

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(
            convoy,
            state="planning" if convoy.waits_for_approval else "active",
            tasks=tuple(Task(spec=spec) for spec in self.tasks),
            planner=self.planner,
            estimate=self.estimate,
            warnings=self.warnings,
            scopes=self.scopes,
        )


class TaskAdded(ConvoyEvent, frozen=True, kw_only=True, tag="task.added"):
    """A person added a task to the plan."""

    SAYS = "{by:who} added task {spec.number}."
    spec: records.TaskSpec
    """The task, as if it had been planned."""
    by: str

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        added = Task(spec=self.spec).after_words_of(self.by)
        return replace(convoy, tasks=(*convoy.tasks, added), candidate=None)


class TaskLinked(TaskEvent, frozen=True, kw_only=True, tag="task.linked"):
    """The task now also waits for another task to be merged."""

    SAYS = "{by:bot} made task {task} wait for task {on}{why:told}."
    on: int
    """The other task's number."""
    by: str
    """Who asked; empty: the bot, because their work overlaps."""
    why: str = ""
    """The reason, if the bot did it automatically."""

    def task_after(self, task: Task, _now: Moment) -> Task:
        why = self.why or f"{self.by} requested it"
        linked = task.spec.waiting(self.on, why, overlap=not self.by)
        return replace(task, spec=linked)


class TaskRewritten(TaskEvent, frozen=True, kw_only=True, tag="task.rewritten"):
    """The plan for the task was changed, for example the tasks that it waits for.

    Older logs also use this event to join two tasks.
    """

    SAYS = "{by:who} updated task {task} in the plan."
    spec: records.TaskSpec
    """The task as it is now planned; its number stays the same."""
    by: str

    def task_after(self, task: Task, _now: Moment) -> Task:
        if self.spec.number != task.number:
            return task  # no rule of ours gives a task another number
        is_told = self.spec.instructions != task.spec.instructions
        return replace(task.after_words_of(self.by if is_told else ""), spec=self.spec)


class ListProposed(ConvoyEvent, frozen=True, kw_only=True, tag="list.proposed"):
    """The sub-issues on the forge differ from the plan, or match it again."""

    listed: tuple[records.SubIssue, ...] = ()
    """The current sub-issues; empty: they match the plan again."""
    changes: tuple[str, ...] = ()
    """The differences, one clause each."""

    def sentence(self) -> str:
        if not self.changes:
            return "The sub-issues match the plan again."
        return f"The sub-issues have changed: {'; '.join(self.changes)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, proposed=self.listed)


class ListFollowed(ConvoyEvent, frozen=True, kw_only=True, tag="list.followed"):
    """The plan was changed to match the current sub-issues."""

    listed: tuple[records.SubIssue, ...]
    """The current sub-issues, and those that have since been closed."""
    named: tuple[records.NamedIssue, ...]
    """Which task belongs to which issue, in the order of the list."""
    by: str
    """Who agreed; empty: the configuration made it automatic."""

    def sentence(self) -> str:
        who = f"{self.by} made the plan match" if self.by else "The plan now matches"
        return f"{who} the current sub-issues."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, listed=self.listed, named=self.named, proposed=())


class ConvoyReplanned(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.replanned"):
    """A person asked for another plan; the engine that planned is told why."""

    SAYS = "{by} asked for another plan."
    by: str
    text: str
    """What they said."""

    def decide(self, state: State) -> Events:
        """Ask the planner again, as long as the plan only waits for approval."""
        convoy = self.in_state(state, "planning")
        if not convoy.tasks:
            raise Refusal(f"{convoy.name} has no plan yet")
        if convoy.mayor is None or convoy.mayor.attempt is not None:
            raise Refusal(
                "no engine made this plan, so none can make another: change the "
                "plan with /brat add, drop, split, depends or engine, or set engine "
                "under [mayor] in .brat/config.toml and start again"
            )
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.mayor is None:
            return convoy  # no rule of ours replans what no engine planned
        mayor = convoy.mayor
        titles = "\n".join(f"{t.number}. {t.spec.title}" for t in convoy.tasks)
        told = (
            f"{mayor.spec.instructions}\n\nThis was the first "
            f"plan:\n\n{titles}\n\n{self.by} reviewed it and asked for a different "
            f"one:\n\n{self.text}"
        )
        spec = replace(mayor.spec, instructions=told)
        again = task_again(mayor.after_words_of(self.by))
        return replace(
            convoy,
            mayor=replace(again, spec=spec, notes=()),
            numbered=convoy.next_number - 1,
            tasks=(),
            scopes=(),
            warnings=(),
            estimate=None,
            called=(),
        )


class TaskAssigned(TaskEvent, frozen=True, kw_only=True, tag="task.assigned"):
    """The task's next attempts use another engine."""

    SAYS = "{by} assigned task {task} to the engine {engine}."
    engine: str
    """The name of one of the convoy's engines."""
    by: str

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, spec=replace(task.spec, engine=self.engine))


class TaskAllowed(TaskEvent, frozen=True, kw_only=True, tag="task.allowed"):
    """A person allowed the task to change protected paths."""

    SAYS = "{by} allowed task {task} to change {paths:list}."
    paths: tuple[str, ...]
    by: str

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, allowed=tuple(dict.fromkeys((*task.allowed, *self.paths))))


class ConvoyRanked(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.ranked"):
    """The convoy's priority among other convoys was changed."""

    SAYS = "{by} gave the convoy priority p{priority}."
    priority: int
    """The priority, from 0 (first) to 2; a new convoy has 1."""
    by: str

    def decide(self, state: State) -> Events:
        if self.live(state).priority == self.priority:
            raise Refusal(f"{self.convoy} already has priority p{self.priority}")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, priority=self.priority)


class TaskSplit(ConvoyEvent, frozen=True, kw_only=True, tag="task.split"):
    """A task was split; tasks that waited for it now wait for all of its parts."""

    task: int
    """The task that was split; the same push drops it."""
    by: int
    """The task whose agent planned the parts; 0: a person did."""
    person: str = ""
    """Who wrote the parts; empty: an agent did."""
    parts: tuple[records.TaskSpec, ...]
    """The new tasks, by number."""

    def sentence(self) -> str:
        numbers = ", ".join(str(part.number) for part in self.parts)
        by = self.person or f"Task {self.by}"
        return f"{by} split task {self.task} into tasks {numbers}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        before = (task.spec for task in convoy.tasks)
        specs = {s.number: s for s in relinked(before, self.task, self.parts)}
        known = (replace(task, spec=specs[task.number]) for task in convoy.tasks)
        parts = (Task(spec=part).after_words_of(self.person) for part in self.parts)
        return replace(convoy, tasks=(*known, *parts))


class TaskNoted(TaskEvent, frozen=True, kw_only=True, tag="task.noted"):
    """An attempt's agent left notes for others; the number of each kind is limited."""

    attempt: int
    notes: tuple[str, ...] = ()
    """Notes for the tasks that build on this one and for its next attempt; cleaned."""
    shared: tuple[str, ...] = ()
    """Scratchpad lines for every agent of the convoy; cleaned."""

    def sentence(self) -> str:
        kinds = {
            "for the tasks that build on it": len(self.notes),
            "for the scratchpad": len(self.shared),
        }
        said = ", ".join(f"{count} {what}" for what, count in kinds.items() if count)
        return f"Task {self.task}, attempt {self.attempt}, left notes: {said}."

    def decide(self, state: State) -> Events:
        """Note as much as is allowed; the shell has cleaned it."""
        self.in_session(state, self.attempt)
        left = bounded_notes(Left(notes=self.notes, shared=self.shared))
        if not (left.notes or left.shared):
            raise Refusal("the agent left no notes")
        return (replace(self, notes=left.notes, shared=left.shared),)

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        shared = tuple(f"task {self.task}: {line}" for line in self.shared)
        convoy = replace(convoy, scratchpad=scratchpad_with(convoy.scratchpad, shared))
        return super().convoy_after(convoy, now)

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, learned=self.notes or task.learned)
