"""The texts of pull requests, a task's and a convoy's own, and of brat's checks."""

from collections.abc import Iterable, Iterator
from typing import Final

from bot.forge.checks import ACTIONS, REPEATED, CheckView, Conclusion
from bot.text.convoy_comment import box_warnings, comment_url, run_url, titled
from bot.text.visible_text import code_block
from convoy.events.people_events import lacking_approvals
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import area_of_path
from convoy.model.work import HandedIn
from convoy.rules.verdict import Checks
from convoy.text import TITLE_CHARS, counted, cut, fitting, full_stop, inert, inline
from convoy.text.project_tests import failing_places

_SHORT: Final = 10
_ROWS_CHARS: Final = 40_000
_LIST_CHARS: Final = 10_000
_NOT_THIS: Final = (
    "Review the convoy's own pull request instead: it shows all of the work."
)
_TO_REVIEW: Final = (
    "This pull request is the one to review. The tasks are listed in the order of "
    "their commits."
)
_FILES_OF_ROW: Final = 3
_FILES: Final = 10


def pull_title(convoy: Convoy, task: Task | None) -> str:
    """Return the title, which may become a commit's subject: nothing acts on it."""
    if task:
        return cut(inert(task.spec.title), TITLE_CHARS)
    end = f" (convoy {convoy.name})"
    return cut(inert(convoy.title), TITLE_CHARS - len(end)) + end


def task_pull_body(
    convoy: Convoy, task: Task, web: str = "", dashboard: str = ""
) -> str:
    links = " \u00b7 ".join(_links(convoy, task, web, dashboard))
    lines = (
        ids.marker(ids.key("pull", convoy.name, task.number)),
        f"Part of #{convoy.issue}: task {task.number} of convoy `{convoy.name}`.",
        "",
        "brat merges this when CI is green on the exact commit that will land.",
        *(() if lacking_approvals(convoy, task) else (_NOT_THIS,)),
        *box_warnings(convoy, (task,)),
        *(("", "Notes from the attempt:", "") if task.learned else ()),
        *(f"- {inline(note)}" for note in task.learned),
        *(("", f"<sub>{links}</sub>") if links else ()),
    )
    return "\n".join(lines)


def _links(convoy: Convoy, task: Task, web: str, dashboard: str) -> Iterator[str]:
    """Give the places that say more: the session, why it stands so, the whole story."""
    if web and task.newest_run is not None:
        yield f"[Session]({run_url(task.newest_run, web)})"
    if web and convoy.comment:
        yield f"[Current state and reasons]({comment_url(convoy, web)})"
    if dashboard:
        yield f"[Every attempt]({dashboard}/convoys/{convoy.name}/tasks/{task.number})"


def convoy_pull_body(convoy: Convoy, web: str = "", dashboard: str = "") -> str:
    """Return the text of a convoy's pull request; its tasks are merged or dropped."""
    merged = [task for task in convoy.tasks if task.state == "merged"]
    shown = sorted(merged, key=lambda task: (task.ended_at, task.number))
    count = f"{len(shown)} of {counted(len(convoy.tasks), 'task')} merged"
    lines = [
        ids.marker(ids.key("pull", convoy.name, 0)),
        f"Convoy `{convoy.name}` for #{convoy.issue}: {count}. {_TO_REVIEW}",
        "",
        "| # | Task | Change | Why it was accepted |",
        "|---|---|---|---|",
    ]
    between = landed_ranges(convoy)
    rows = [
        f"| {task.number} | {titled(convoy, task)} | "
        f"{_change(task, between.get(task.number), web)} | {_evidence(convoy, task)} |"
        for task in shown
    ]
    more = f"{{}}: `brat report {convoy.name}`"
    lines += fitting(rows, f"| | {more} | | |", _ROWS_CHARS)
    lines += [*_gaps(convoy), *box_warnings(convoy, convoy.tasks), *_left(convoy), ""]
    page = f"{dashboard}/convoys/{convoy.name}"
    live = f"[History]({page}). " if dashboard else ""
    lines.append(f"<sub>{live}`brat report {convoy.name}` shows the full report.</sub>")
    return "\n".join(lines)


def _change(task: Task, between: tuple[str, str] | None, web: str) -> str:
    if between is None:
        return "no change was needed"
    old, new = (commit[:_SHORT] for commit in between)
    count, files = counted(len(task.files), "file"), task.files
    more = ", ..." if len(files) > _FILES_OF_ROW else ""
    named = ", ".join(map(inline, files[:_FILES_OF_ROW])) + more
    if not web:
        return f"{count}, `{old}...{new}`: {named}"
    return f"[{count}]({web}/compare/{between[0]}...{between[1]}): {named}"


def _evidence(convoy: Convoy, task: Task) -> str:
    if task.report is not None:
        return "its report is complete"
    if task.landed is None:
        return (
            "the agent reported that there was nothing to do, and the acceptance "
            "command passed"
        )
    pull = f", #{task.pull}" if task.pull else ""
    tries = f", attempt {task.started}" if task.started > 1 else ""
    approved = "".join(f", approved by {inline(by)}" for by in task.approved_by)
    judged = "CI was green on" if convoy.settings.require_ci else "not tested:"
    return f"{judged} `{task.landed[:_SHORT]}`{pull}{tries}{approved}"


def untested(convoy: Convoy, task: Task) -> tuple[str, ...]:
    """Return the code that a task changed, if no test was changed with it.

    A test counts that another task changed, which builds on this one or this on it: a
    plan may keep tests apart.
    """
    files = task.files
    beside = (
        other
        for other in convoy.tasks
        if other.state == "merged"
        and (
            other.number in (*task.spec.after, *task.spec.on)
            or task.number in (*other.spec.after, *other.spec.on)
        )
    )
    if any(area_of_path(file) == "tests" for each in beside for file in each.files):
        return ()
    areas = {file: area_of_path(file) for file in files}
    if "tests" in areas.values():
        return ()
    return tuple(file for file, area in areas.items() if area == "code")


def landed_ranges(convoy: Convoy) -> dict[int, tuple[str, str]]:
    """Return each task's change, from the landing before it to its own."""
    tip, found = convoy.base, {}
    landed = [task for task in convoy.tasks if task.landed]
    for task in sorted(landed, key=lambda task: (task.ended_at, task.number)):
        found[task.number] = (tip, str(task.landed))
        tip = str(task.landed)
    return found


def _gaps(convoy: Convoy) -> Iterator[str]:
    """List the files changed without a test in the same task."""
    found = {
        task.number: files
        for task in convoy.tasks
        if task.state == "merged" and (files := untested(convoy, task))
    }
    if not found:
        return
    yield from ("", "**Not covered by tests**, judging by the changed files:", "")
    rows = [
        f"- task {number}: {', '.join(map(inline, files[:_FILES]))}"
        + (f" and {more} more" if (more := len(files) - _FILES) > 0 else "")
        for number, files in found.items()
    ]
    rest = f"- {{}}: `brat report {convoy.name}`"
    yield from fitting(rows, rest, _LIST_CHARS)


def _left(convoy: Convoy) -> Iterator[str]:
    dropped = [task for task in convoy.tasks if task.state == "dropped"]
    if not dropped:
        return
    yield from ("", "**Not included:**", "")
    rows = [f"- {inline(task.spec.title)}: {inline(task.why)}" for task in dropped]
    more = f"- {{}}: `brat convoy show {convoy.name}`"
    yield from fitting(rows, more, _LIST_CHARS)


_GATED: Final = "brat lands this when CI is green on the exact commit that will land."
_AGAIN: Final = "The next attempt gets this feedback, and its work gets its own check."


def check_views(convoy: Convoy, page: str) -> Iterator[CheckView]:
    """Give the check on each task's newest accepted work, and on the convoy's own."""
    conclusion: Conclusion | None
    for task in () if convoy.lands_given else convoy.tasks:
        work = task.handed_in
        if work is None:
            continue
        conclusion, title, why = _of_task(convoy, task, work)
        was_red = task.why if task.state == "blocked" else work.why
        what = f"Task {task.number} of convoy `{convoy.name}`, attempt {work.attempt}"
        yield CheckView(
            key=ids.check_key(convoy.name, task.number, work.attempt),
            commit=work.commit,
            name=ids.task_check_name(task.number),
            conclusion=conclusion,
            title=title,
            summary=f"{what}. {why}",
            url=comment_url(convoy, page),
            places=failing_places(was_red),
        )
    if not convoy.offered:
        return
    conclusion, title, why = None, f"Waiting to land on {convoy.target}", _GATED
    if convoy.state == "complete":
        conclusion, title = "success", f"Landed on {convoy.target}"
        why = f"It landed as `{(convoy.landed or '')[:10]}`."
    elif convoy.state == "failed":
        conclusion, title, why = "failure", "Failed", full_stop(inline(convoy.why))
    yield CheckView(
        key=ids.check_key(convoy.name, 0, 1),
        commit=convoy.offered,
        name=ids.CONVOY_CHECK_NAME,
        conclusion=conclusion,
        title=title,
        summary=f"Convoy `{convoy.name}` for #{convoy.issue}. {why}",
        url=comment_url(convoy, page),
    )


def required_views(
    convoy: Convoy, required: Iterable[str], seen: Checks, page: str
) -> Iterator[CheckView]:
    """Give a status for each required check that a job passed on its candidate.

    Where a job's token starts CI, GitHub says of each that it is expected: it counts no
    check of a dispatched run, but it counts statuses.
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
    """
    candidate = convoy.candidate
    if candidate is None or seen.verdict != "green":
        return
    for name in required:
        if seen.reporters.get(name) == ACTIONS:
            yield CheckView(
                key=f"required:{convoy.name}/{name}",
                commit=candidate.commit,
                name=name,
                conclusion="success",
                title=REPEATED,
                summary="",
                url=comment_url(convoy, page),
                is_status=True,
            )


def _of_task(
    convoy: Convoy, task: Task, work: HandedIn
) -> tuple[Conclusion | None, str, str]:
    if task.work is None:
        return "failure", "Sent back", f"{_told(work.why)}\n\n{_AGAIN}"
    match task.state:
        case "merged":
            landed, branch = (task.landed or "")[:10], ids.base_branch(convoy.name)
            return "success", "Landed", f"Merged into `{branch}` as `{landed}`."
        case "dropped":
            return "cancelled", "Dropped", full_stop(inline(task.why))
        case "blocked":
            return "action_required", "Needs attention", _told(task.why)
        case _ if lacks := lacking_approvals(convoy, task):
            return "action_required", "Needs approval", f"It needs {inline(lacks)}."
        case _:
            return None, "In the merge queue", _GATED


def _told(why: str) -> str:
    """Return a reason: its first line as a sentence, the rest as it was printed."""
    first, _, rest = why.strip().partition("\n")
    said = full_stop(inline(first))
    return f"{said}\n\n{code_block(rest.strip())}" if rest.strip() else said
