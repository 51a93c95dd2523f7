"""Sub-issues: how they become a convoy's plan, what became of them, and who follows.

The order is the forge's: what blocks an issue comes first. No text of an issue is read
for anything; each agent is told its own issue's in a block of code.

A change on the forge is a proposal: it shows what is different and waits until somebody
agrees. What has begun goes on as it was. A person's own issue ends its task at once,
when that person closes it. The tasks of any other plan can be written back as
sub-issues, which are no list to follow: the log knows which task each stands for.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from typing import Final

from msgspec.structs import replace

from convoy.events import ConvoyCommand, Event, Events, Refusal, TaskCommand, copied
from convoy.events.forge_actions import ActionIntended
from convoy.events.plan_events import (
    ListFollowed,
    ListProposed,
    TaskAdded,
    TaskRewritten,
)
from convoy.events.task_events import TaskDropped, TaskMerged, TaskQueued
from convoy.model import ids
from convoy.model.records import NamedIssue, SubIssue, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import find_cycle
from convoy.planner.tasklist import AROUND_CHARS, INSTRUCTIONS_CHARS, TITLE_MOST
from convoy.rules import convoy_next
from convoy.rules.landing import target_taken_in
from convoy.rules.plans import kept_by_protected_paths, left_to_people
from convoy.text import clean, code_block, cut, inline

MOST_SUB_ISSUES: Final = 50
"""So many open sub-issues one issue may have, nested ones included."""
_NUMBER_CHARS: Final = 13


def steps_of(issue: int, listed: Iterable[SubIssue]) -> tuple[SubIssue, ...]:
    return tuple(sub for sub in listed if sub.step_of == issue)


def named_by(
    listed: tuple[SubIssue, ...], named: Iterable[NamedIssue] = (), first: int = 1
) -> tuple[NamedIssue, ...]:
    """Return which task stands for which issue, steps before their parent.

    Issues in `named` keep their tasks; new ones are numbered from `first`.
    """
    known = {each.issue: each.task for each in named}

    def walk(parent: int) -> Iterator[SubIssue]:
        for sub in steps_of(parent, listed):
            yield from walk(sub.issue)
            yield sub

    found: list[NamedIssue] = []
    for sub in walk(0):
        has_work = sub.text.strip() or not steps_of(sub.issue, listed)
        if sub.issue in known or has_work:  # a parent without a text has none
            number = known.get(sub.issue, first)
            first += number == first
            found.append(NamedIssue(number, sub.issue))
    return tuple(found)


def tasks_of(
    issue: int, listed: Collection[SubIssue], named: Collection[NamedIssue]
) -> tuple[int, ...]:
    """Return the tasks after which an issue is done."""
    if own := next((each.task for each in named if each.issue == issue), 0):
        return (own,)
    steps = (tasks_of(sub.issue, listed, named) for sub in steps_of(issue, listed))
    return tuple(number for numbers in steps for number in numbers)


def awaited(
    sub: SubIssue, listed: Collection[SubIssue], named: Collection[NamedIssue]
) -> tuple[int, ...]:
    """Return the tasks that an issue's task waits for, sorted."""
    by_issue = {each.issue: each for each in listed}
    issues = {each.issue for each in steps_of(sub.issue, listed)}
    at: SubIssue | None = sub
    while at is not None:  # what blocks a parent blocks its steps
        issues |= {issue for issue in at.after if issue in by_issue}
        at = by_issue.get(at.step_of)
    numbers = {n for issue in issues for n in tasks_of(issue, listed, named)}
    return tuple(sorted(numbers))


def list_fault(listed: tuple[SubIssue, ...]) -> str:
    """Return why a list is no plan, as a clause; empty: it is one."""
    if len(listed) > MOST_SUB_ISSUES:
        return (
            f"the issue has more than {MOST_SUB_ISSUES} open sub-issues: move some "
            "to another issue"
        )
    known = {sub.issue for sub in listed}
    for sub in listed:
        if sub.away:
            return (
                f"#{sub.issue} is blocked by {sub.away}, which is open and in another "
                "repository: remove the dependency, or close that issue"
            )
        if lost := [issue for issue in sub.after if issue not in known]:
            return (
                f"#{sub.issue} is blocked by #{lost[0]}, which is open but not a "
                f"sub-issue here: add or close #{lost[0]}, or remove the dependency"
            )
    named = named_by(listed)
    subs = {sub.issue: sub for sub in listed}
    issues = {each.task: each.issue for each in named}
    edges = {n: awaited(subs[issue], listed, named) for n, issue in issues.items()}
    if circle := find_cycle(edges):
        names = ", ".join(f"#{issues[number]}" for number in circle)
        return f"the sub-issues wait for each other in a cycle: {names}"
    return ""


def planned(
    title: str, around: str, listed: tuple[SubIssue, ...], named: tuple[NamedIssue, ...]
) -> tuple[TaskSpec, ...]:
    """Return the tasks of a list that has no fault, by number."""
    tasks = {each.issue: each.task for each in named}
    specs: list[TaskSpec] = []
    for sub in (each for each in listed if each.issue in tasks):
        words = " ".join(clean(sub.title).split())
        name = f"{cut(words, TITLE_MOST - _NUMBER_CHARS)} (#{sub.issue})".strip()
        number = tasks[sub.issue]
        told = f'This is task {number} of the issue "{cut(title, TITLE_MOST)}".'
        if sub.labels:
            told += f" Its labels: {', '.join(sub.labels)}."
        if steps := steps_of(sub.issue, listed):
            done = ", ".join(f"#{step.issue}" for step in steps)
            told += f" Some of its steps are already done ({done}): do the rest."
        if around.strip():
            about = cut(around.strip(), AROUND_CHARS)
            told += f" Apart from its tasks, the issue says:\n\n{about}"
        body = f"{words}\n\n{clean(sub.text).strip()}".strip()
        room = INSTRUCTIONS_CHARS - len(told) - len(name) - 100
        says = f"Issue #{sub.issue} says:\n\n{code_block(cut(body, room))}"
        spec = TaskSpec(
            number=number,
            title=name,
            instructions=f"{name}\n\n{says}\n\n{told}",
            after=awaited(sub, listed, named),
        )
        specs.append(spec)
    return tuple(sorted(specs, key=lambda spec: spec.number))


def changes(convoy: Convoy, now: tuple[SubIssue, ...]) -> tuple[str, ...]:
    """Return how a list differs from the one that is the plan, a clause each."""
    if not now:
        return ()
    old = {sub.issue: sub for sub in convoy.listed if not _is_over(convoy, sub)}
    new = {sub.issue: sub for sub in now}
    closed = {issue for issue, sub in new.items() if sub.closed}
    known = {sub.issue: sub for sub in convoy.listed}
    told = [
        f"#{sub.issue} ({inline(sub.title)}) was added"
        for sub in now
        if sub.issue not in known and not sub.closed
    ]
    told += [
        f"#{sub.issue} was reopened"
        for sub in now
        if not sub.closed
        and (was := known.get(sub.issue))
        and was.closed
        and (task := task_for(convoy, sub.issue))
        and task.state == "dropped"
    ]
    for issue, was in old.items():
        sub = new.get(issue)
        if sub is None:
            told.append(f"#{issue} was removed")
        elif sub.closed and not (was.kept_by and sub.closed == "completed"):
            told.append(f"#{issue} was closed as {sub.closed.replace('_', ' ')}")
        elif not sub.closed:
            told += _changed(was, sub, closed)
    before = [issue for issue in old if issue in new and not new[issue].closed]
    after = [issue for issue in new if issue in before]
    if before != after:
        told.append(f"the order is now {', '.join(f'#{each}' for each in after)}")
    return tuple(told)


def _changed(was: SubIssue, sub: SubIssue, closed: set[int]) -> list[str]:
    new = sorted({*sub.after} - {*was.after})
    gone = sorted({*was.after} - {*sub.after} - closed)
    told = [f"#{sub.issue} is blocked by #{issue}" for issue in new]
    told += [f"#{sub.issue} is no longer blocked by #{issue}" for issue in gone]
    if sub.away != was.away:
        no = "" if sub.away else "no longer "
        told.append(f"#{sub.issue} is {no}blocked by {sub.away or was.away}")
    if sub.kept_by != was.kept_by:
        place = f"assigned to {sub.kept_by}" if sub.kept_by else "no longer assigned"
        told.append(f"#{sub.issue} is {place}")
    if sub.step_of != was.step_of:
        place = (
            f"a step of #{sub.step_of}"
            if sub.step_of
            else "no longer a step of another issue"
        )
        told.append(f"#{sub.issue} is {place}")
    return told


def _is_over(convoy: Convoy, sub: SubIssue) -> bool:
    task = task_for(convoy, sub.issue)
    return bool(sub.closed) or (task is not None and task.settled)


def task_for(convoy: Convoy, issue: int) -> Task | None:
    number = next((n.task for n in convoy.named if n.issue == issue), 0)
    return convoy.task(number)


class ProposeList(ConvoyCommand, frozen=True, kw_only=True):
    """The forge shows other sub-issues than the plan was made of."""

    listed: tuple[SubIssue, ...]
    now: int
    """Unix ms."""

    def decide(self, state: State) -> Events:
        """Keep the list and tell its difference, or forget one that is no more."""
        convoy = self.live(state)
        told = changes(convoy, self.listed)
        if told == changes(convoy, convoy.proposed):
            raise Refusal(f"the sub-issues of {convoy.name} are already known")
        if not told:
            return (ListProposed(convoy=convoy.name),)
        proposed = ListProposed(convoy=convoy.name, listed=self.listed, changes=told)
        key = ids.sign_key("list", f"{convoy.name}/{self.now}")
        listed = "\n".join(f"- {each}" for each in told)
        text = f"The sub-issues have changed, and so has the plan:\n\n{listed}"
        fault = list_fault(_open(self.listed))
        if fault or not convoy.settings.follow:
            until = f": {fault}" if fault else " until someone comments `/brat follow`"
            text = (
                f"The sub-issues have changed:\n\n{listed}\n\nThe plan does not "
                f"change{until}."
            )
        intent = ActionIntended(key=key, kind="answer", issue=convoy.issue, text=text)
        return (proposed, intent)


def _open(listed: tuple[SubIssue, ...]) -> tuple[SubIssue, ...]:
    """Return what is open, and no step of anything that is not."""
    known = {sub.issue for sub in listed if not sub.closed}
    return tuple(
        sub if sub.step_of in known else replace(sub, step_of=0)
        for sub in listed
        if not sub.closed
    )


def may_follow(convoy: Convoy) -> bool:
    is_plan = bool(convoy.proposed) and not list_fault(_open(convoy.proposed))
    return is_plan and not convoy.settled


class FollowList(ConvoyCommand, frozen=True, kw_only=True):
    """The plan goes by the sub-issues as they were proposed."""

    by: str = ""
    """Who agreed; empty: the configuration lets it follow."""
    target: str = ""
    """Where the target stands."""

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        if not convoy.proposed:
            raise Refusal(f"the sub-issues of {convoy.name} match its plan")
        if convoy.settled:
            raise Refusal(f"all tasks of {convoy.name} are done, and it is landing")
        listed = _open(convoy.proposed)
        if fault := list_fault(listed):
            raise Refusal(fault)
        there = {task.number for task in convoy.tasks if task.state != "dropped"}
        kept = [each for each in convoy.named if each.task in there]
        named = named_by(listed, kept, convoy.next_number)
        issues = {each.issue for each in named}
        named = (*named, *(each for each in kept if each.issue not in issues))
        over = (sub for sub in convoy.proposed if sub.closed)
        followed = copied(ListFollowed, self, listed=(*listed, *over), named=named)
        after = replace(convoy, named=named, listed=listed)
        events: list[Event] = []
        for spec in planned(convoy.title, convoy.text, listed, named):
            events += self._task_events(convoy, after, spec)
        ended = [*self._ended(convoy, {sub.issue: sub for sub in convoy.proposed})]
        events += ended
        folded = reduce(lambda known, event: event.change(known), events, state)
        last = folded.convoys[convoy.name]
        task = last.task(ended[-1].task) if ended else None
        return (*events, followed, *(convoy_next(last, task) if task else ()))

    def _task_events(
        self, convoy: Convoy, after: Convoy, spec: TaskSpec
    ) -> Iterator[Event]:
        """Yield what makes one task as the list has it now."""
        number, task = spec.number, convoy.task(spec.number)
        issue = next(each.issue for each in after.named if each.task == number)
        sub = next(each for each in after.listed if each.issue == issue)
        left = left_to_people(after, (sub,))
        if task is None:
            yield TaskAdded(convoy=convoy.name, spec=spec, by=self.by)
            yield from (*kept_by_protected_paths(convoy, (spec,)), *left)
            return
        if not _at_rest(task):
            return
        was = next((s for s in convoy.listed if s.issue == sub.issue), sub)
        others = {*task.spec.after} - {*awaited(was, convoy.listed, convoy.named)}
        wanted = tuple(sorted({*spec.after, *others}))
        new, name = replace(task.spec, after=wanted), convoy.name
        if new != task.spec:
            yield TaskRewritten(convoy=name, task=number, spec=new, by=self.by)
        if sub.kept_by and sub.kept_by != was.kept_by:
            yield from left
        elif was.kept_by and not sub.kept_by and task.state == "blocked":
            yield TaskQueued(convoy=name, task=number, cause="retry", wanted_by=self.by)

    def _ended(
        self, convoy: Convoy, now: dict[int, SubIssue]
    ) -> Iterator[TaskMerged | TaskDropped]:
        """Yield the ends of the tasks whose issues were closed or taken out."""
        for old in convoy.listed:
            sub, task = now.get(old.issue), task_for(convoy, old.issue)
            if task is None or not _at_rest(task) or (sub and not sub.closed):
                continue
            name, number = convoy.name, task.number
            if sub and sub.closed == "completed":
                why = f"#{sub.issue} was closed as completed"
                yield _done_by_person(convoy, task, why, self.target)
                continue
            why = f"#{old.issue} was {'closed as not planned' if sub else 'removed'}"
            yield TaskDropped(convoy=name, task=number, why=why, wanted_by=self.by)


def _at_rest(task: Task) -> bool:
    is_waiting = task.state in ("queued", "blocked")
    return is_waiting and task.attempt is None and task.work is None


class FinishKept(TaskCommand, frozen=True, kw_only=True):
    """A person has closed the issue that was assigned to them."""

    by: str
    """Whom it is assigned to."""
    target: str = ""
    """Where the target stands, which holds what they did."""

    def decide(self, state: State) -> Events:
        convoy, task = self.unsettled(state)
        if not _at_rest(task):
            raise Refusal(f"task {task.number} is {task.state}: an agent started it")
        why = f"{self.by} did the work, and its issue is closed"
        merged = _done_by_person(convoy, task, why, self.target)
        return (merged, *convoy_next(convoy, replace(task, state="merged")))


def _done_by_person(convoy: Convoy, task: Task, why: str, target: str) -> TaskMerged:
    lacks = "" if target == target_taken_in(convoy) else target
    return TaskMerged(convoy=convoy.name, task=task.number, why=why, target=lacks)


def unwritten(state: State, convoy: Convoy) -> Events:
    """Return that sub-issues are opened for the tasks that lack one.

    Of a long plan the first tasks get one: as many as can be read as a plan again.
    """
    is_off = convoy.staged or convoy.held or convoy.issue_is == "gone"
    is_other = convoy.listed or convoy.given is not None
    wanted = convoy.settings.sub_issues and convoy.state == "active"
    if not wanted or is_off or is_other:
        return ()
    named = {each.task for each in convoy.named}
    tasks = [task for task in convoy.tasks if task.spec.kind == "work"]
    keys = {
        task.number: ids.key("issue", convoy.name, task.number)
        for task in tasks[:MOST_SUB_ISSUES]
        if task.number not in named and not task.settled
    }
    return tuple(
        ActionIntended(key=key, kind="issue", convoy=convoy.name, task=number)
        for number, key in keys.items()
        if key not in state.intents
    )


class WriteSubIssues(ConvoyCommand, frozen=True, kw_only=True):
    """The tasks of a plan become sub-issues of the convoy's issue."""

    def decide(self, state: State) -> Events:
        if found := unwritten(state, self.live(state)):
            return found
        raise Refusal(f"every task of {self.convoy} already has an issue")
