"""What only a person can put right: what it is, why, and what to say or type. Pure.

Each has the command for a terminal and, where there is one, the `/brat` line that does
the same in a comment on the convoy's issue. Issues that
ask for a convoy and have none yet are among them.
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from convoy.events.hold_events import COMMENTS_MOST
from convoy.gate import forbidden, unallowed, wants
from convoy.kinds import is_stopped, may_be_too_much
from convoy.model import ids
from convoy.model.records import CAUSES
from convoy.model.state import LATELY_MS, Convoy, State, Task
from convoy.rules import ALL_DROPPED
from convoy.rules.landing import kept_by_people
from convoy.rules.retries import dropped_needs
from convoy.rules.starting import holding, kept_by_leases
from convoy.text import clock, full_stop, numbered

InterventionKind = Literal[
    "set_aside",
    "blocked_task",
    "merge_failed",
    "protected_path",
    "convoy_failed",
    "plan_approval",
    "kept_back",
    "stuck_session",
    "lock_conflict",
    "comment_deleted",
    "config_error",
    "bot_down",
    "standstill",
    "unread_issue",
    "issue_next",
    "commits_beside",
    "log_damaged",
    "unknown_event",
]
_STAGED: Final = (
    "this repository is staged, so nothing starts: remove `staged = true` from "
    "`.brat/config.toml` on the default branch, then approve the plan"
)
SLACK_S: Final = 300
"""Over a session's own timeout, before its run counts as stuck."""


class Intervention(Struct, frozen=True, kw_only=True):
    kind: InterventionKind
    convoy: str = ""
    task: int = 0
    """0: it is not about one task."""
    issue: int = 0
    """The issue that has no convoy; 0: it is about something else."""
    why: str
    commands: tuple[str, ...] = ()
    """For a terminal; the first is the likeliest."""
    comments: tuple[str, ...] = ()
    """To be said on the convoy's issue, in the same order."""
    words: tuple[str, ...] = ()
    """What a button can do about it, in the same order: the words of the endpoints."""


def interventions(
    state: State, now: int, faults: tuple[str, ...] = ()
) -> tuple[Intervention, ...]:
    """Return all that waits for a person at `now` (unix ms), the gravest first.

    `faults` is what could not be read in the log.
    """
    live = [(convoy, task) for convoy in state.live() for task in convoy.tasks]
    found = (
        *_damages(state, faults),
        *(_aside(state, now, *each) for each in state.asides()),
        *(stopped(*each) for each in live if is_stopped(*each)),
        *_given_up(state, now),
        *(
            _asking("merge_failed", each, f"its landing is waiting: {why}", "retry")
            for each in state.live()
            if (why := each.sync.stalled)
        ),
        *(found for convoy in state.live() for found in _asked(convoy, state)),
        *_stuck(state, now),
        *_locked(state, now),
        *(
            Intervention(
                kind="comment_deleted",
                convoy=convoy.name,
                why=f"its comment on issue #{convoy.issue} was deleted twice, so "
                "brat will not post it again",
                commands=("brat status",),
                comments=("/brat status",),
            )
            for convoy in state.live()
            if convoy.deleted_comments >= COMMENTS_MOST and convoy.comment is None
        ),
    )
    return tuple(
        replace(each, commands=tuple(short(state, line) for line in each.commands))
        for each in found
    )


def short(state: State, command: str) -> str:
    """Return the command without the convoy that it means anyway."""
    live = [convoy.name for convoy in state.live()] or [*state.convoys][-1:]
    return command.removesuffix(f" --convoy {live[0]}") if len(live) == 1 else command


def _asking(
    kind: InterventionKind, part: Convoy | str, why: str, *words: str, task: int = 0
) -> Intervention:
    """Return what waits for a person, who says one of these words of it."""
    name = part if isinstance(part, str) else part.name
    about = f"{task} --convoy {name}" if task else name
    which = f" task-{task}" if task else ""
    return Intervention(
        kind=kind,
        convoy=name,
        task=task,
        why=why,
        commands=tuple(f"brat {word} {about}" for word in words),
        comments=tuple(f"/brat {word}{which}" for word in words),
        words=words,
    )


def standing_still(why: str) -> Intervention:
    return Intervention(kind="standstill", why=f"nothing is making progress: {why}")


_WAYS: Final = {
    "retry": "to try it again",
    "drop": "to continue without it",
    "allow": "to allow it",
    "split": "to split it",
    "resume": "to go on",
    "cancel": "to end it",
    "release": "to start it sooner",
}
"""What a command with this word does."""


def advice(found: Intervention) -> Iterator[str]:
    """Yield what each command does, and the command."""
    for command in found.commands:
        ways = (_WAYS[word] for word in command.split() if word in _WAYS)
        yield f"{next(ways, 'type')}: {command}"


def alike(
    found: Iterable[Intervention],
) -> Iterator[tuple[Intervention, tuple[int, ...]]]:
    """Yield each with the later tasks of its convoy that wait for the same reason."""
    groups: dict[object, list[Intervention]] = {}
    for each in found:
        apart = () if each.task else each.commands
        groups.setdefault((each.convoy, each.kind, each.why, apart), []).append(each)
    for first, *others in groups.values():
        yield first, tuple(each.task for each in others)


def same_for(found: Intervention, others: tuple[int, ...]) -> str:
    """Return the words for such tasks, and the command for them all."""
    again = f"; to retry all that is blocked: brat retry {found.convoy}"
    can_retry = any(" retry " in each for each in found.commands)
    return f"the same for {numbered(others)}{again * can_retry}"


def needs_a_person(found: Iterable[Intervention], convoy: str | None = None) -> bool:
    """Whether anything of a convoy (None: of any) does not go on without a person.

    A loop that runs takes the next issue up itself.
    """
    return any(
        each.kind != "issue_next" and convoy in (None, each.convoy or convoy)
        for each in found
    )


def unusable_config(said: str) -> Intervention:
    """Return that a configuration cannot be used; `said` has a line for each fault."""
    first, *more = said.splitlines() or [""]
    others = f" (and {len(more)} more)" if more else ""
    why = f"the configuration cannot be used: {first}{others}"
    return Intervention(kind="config_error", why=why, commands=("brat config check",))


def _damages(state: State, faults: tuple[str, ...]) -> Iterator[Intervention]:
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        why = f"the log has a fault: {faults[0]}{more}"
        yield Intervention(kind="log_damaged", why=why, commands=("brat doctor",))
    if state.unknown:
        names = ", ".join(state.unknown)
        why = (
            f"the log has events from a newer version of brat ({names}): update brat "
            "here; until then, it writes nothing"
        )
        yield Intervention(kind="unknown_event", why=why)


def _aside(state: State, now: int, item: str, aside: ids.SetAside) -> Intervention:
    name, task = ids.task_of_item(item) or (state.convoy_of_item(item), 0)
    what = "" if ids.task_of_item(item) else f"{item}: "
    tried = "once" if aside.tries == 1 else f"{aside.tries} times"
    again = f"at {clock(aside.due)}" if aside.due > now else "as soon as brat runs"
    why = f"{what}{aside.why.rstrip('.')} (tried {tried}; next try {again})"
    why = f"{full_stop(why)} {aside.helps}" if aside.helps else why
    return _asking("set_aside", name, why, *(("retry",) if name else ()), task=task)


def _given_up(state: State, now: int) -> Iterator[Intervention]:
    """Give the convoys that failed lately, if no person ended or replaced them."""
    failed_lately = [
        convoy
        for convoy in state.convoys.at_hand.values()
        if convoy.state == "failed" and now - convoy.ended_at < LATELY_MS
    ]
    if not failed_lately:
        return
    newest = {known.issue: name for name, known in state.convoys.summaries()}
    for convoy in failed_lately:
        is_wanted = not convoy.given_up_by and convoy.why != ALL_DROPPED
        if is_wanted and newest[convoy.issue] == convoy.name:
            failed = f"the convoy failed: {convoy.why}"
            found = _asking("convoy_failed", convoy, failed, "retry")
            if convoy.given is not None:  # what is new of it counts
                say = (f"/brat {convoy.given.verb}",)
                yield replace(found, commands=(), comments=say, words=())
            else:
                yield replace(found, comments=(*found.comments, "/brat start"))


def stopped(convoy: Convoy, task: Task) -> Intervention:
    unmerged = task.work is not None and CAUSES[task.cause].at_landing
    kind: InterventionKind = "merge_failed" if unmerged else "blocked_task"
    why, words = task.why, ["retry", "drop"][bool(dropped_needs(convoy, task)) :]
    if paths := unallowed(task, convoy.settings.gate):  # to try again would not help
        kind, why = "protected_path", wants(task.number, paths)
        words = ["drop"] if forbidden(paths) else ["allow", "drop"]
    elif task.refused_paths and not forbidden(task.refused_paths):
        words = ["allow", *words]
    found = _asking(kind, convoy, why, *words, task=task.number)
    if (
        kind != "blocked_task"
        or task.refused_paths
        or not may_be_too_much(convoy, task)
    ):
        return found
    split = f"brat task split {task.number} LIST --convoy {convoy.name}"
    return replace(
        found,
        commands=(*found.commands, split),
        comments=(*found.comments, f"/brat split task-{task.number} -- LIST"),
    )


def _asked(convoy: Convoy, state: State) -> Iterator[Intervention]:
    """Give what waits for somebody's word: a plan, a label, work in review."""
    name = convoy.name
    if convoy.state == "planning" and convoy.tasks:
        why = _STAGED if convoy.staged else "its plan is waiting for approval"
        yield _asking("plan_approval", convoy, why, "approve")
    if convoy.held:
        yield _asking(
            "kept_back", convoy, f"it is held until the label {convoy.held} is removed"
        )
        return
    if (pushed := convoy.pushed) is not None:
        branch, head = ids.base_branch(name), pushed.commit[:10]
        back = (convoy.tip or convoy.base)[:10]
        why = (
            f"someone pushed {head} to {branch}, but no task created that commit: "
            f"accept it, or reset the branch to {back}"
        )
        say = (f"/brat approve {head}",)
        yield replace(_asking("kept_back", convoy, why), comments=say)
    yield from _paused(convoy, is_all=bool(state.paused_by))
    waits = f"is waiting for {convoy.landing_waits}" if convoy.landing_waits else ""
    if convoy.withdrawn:
        waits = "was removed from the merge queue"
    if waits and (convoy.settled or convoy.withdrawn):
        why = f"{convoy.offer} {waits}"
        yield _asking("kept_back", convoy, why)
    # What people took out by a gesture on its pull request.
    own = ((task.number, task.taken_out) for task in convoy.tasks if not task.settled)
    for number, out in ((0, convoy.taken_out), *own):
        if out is not None:
            yield _asking("kept_back", convoy, out.waits, task=number)
    for task in convoy.tasks:
        if task.taken_out is not None:
            continue
        waits = kept_by_people(convoy, task) if task.state == "needs-review" else ""
        told = task.set_aside.back if task.set_aside else ""
        if waits and waits != told:
            why = f"pull request #{task.pull} is waiting for {waits}"
            found = _asking("kept_back", convoy, why, task=task.number)
            if task.pushed is not None:
                accept = f"/brat approve {task.pushed.commit[:10]}"
                found = replace(found, comments=(accept,))
            yield found


def _paused(convoy: Convoy, *, is_all: bool) -> Iterator[Intervention]:
    """Give what keeps a convoy paused; `is_all`: the whole repository is."""
    closed = convoy.issue_closed
    if not closed and convoy.state != "paused":
        return
    by_hand = "a person paused it"
    why = f"issue #{convoy.issue} was closed" if closed else convoy.why or by_hand
    words = ("resume", "cancel") if closed else ("resume",)
    found = _asking("kept_back", convoy, why, *words)
    if is_all and not closed:
        say = ("/brat resume all",)
        found = replace(found, commands=(), comments=say, words=())
    yield found


def _stuck(state: State, now: int) -> Iterator[Intervention]:
    for convoy, task in state.running():
        engine, attempt = convoy.settings.engines.get(task.spec.engine), task.attempt
        if attempt is None or engine is None:
            continue
        if now > attempt.at + (engine.timeout_s + SLACK_S) * 1000:
            since = f"its session began at {clock(attempt.at)}"
            why = f"{since} and should have ended by now; is a bot running?"
            found = _asking("stuck_session", convoy, why, task=task.number)
            say = (f"/brat cancel task-{task.number}", "/brat ping")
            yield replace(found, commands=("brat up",), comments=say)


def _locked(state: State, now: int) -> Iterator[Intervention]:
    """Give the leases of people; those of other sessions end by themselves."""
    for convoy, task, leases in kept_by_leases(state, now):
        for lease in leases:
            if "/" not in lease.holder:
                yield Intervention(
                    kind="lock_conflict",
                    convoy=convoy.name,
                    task=task.number,
                    why=f"{holding(lease)}; only {lease.holder} can release it sooner",
                    commands=(f"brat lock release {shlex.quote(lease.resource)}",),
                    comments=(f"/brat unlock {lease.resource}",),
                )


SOON: Final = "the loop will pick it up next"


class LabelledIssue(Struct, frozen=True, kw_only=True):
    number: int
    title: str
    never: str = ""
    """The label that tells brat to ignore it; empty: it has none."""
    blocked_by: str = ""
    """The open issues that it waits for; empty: none that is known."""


def unread_issues(
    issues: Iterable[LabelledIssue], state: State, commands: tuple[str, ...] = ()
) -> Iterator[Intervention]:
    """Yield each labelled issue that no convoy works on.

    `commands` make brat read them; empty: its loop runs and soon will.
    """
    at_work = {convoy.issue for convoy in state.live()}
    for issue in (each for each in issues if each.number not in at_work):
        number, name = issue.number, f"issue #{issue.number} {issue.title!r}"
        reason = "no mayor has run since it was labelled" if commands else SOON
        own = ids.item("delivery", f"sweep-{number}"), ids.item("issue", number)
        for aside in filter(None, map(state.aside_of, own)):
            reason = f"brat will try again: {aside.why}"
        if issue.never:
            reason = f"its label {issue.never} tells brat to ignore it"
        why = f"{name} has not been read yet: {reason}"
        if issue.blocked_by:
            why = f"{name} is blocked by {issue.blocked_by}, and starts when they close"
        yield Intervention(
            kind="issue_next" if reason == SOON else "unread_issue",
            issue=number,
            why=why,
            commands=() if issue.never else commands,
        )
