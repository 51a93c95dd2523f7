"""What the bot says unasked: warnings, what a gesture did, and calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bot.forge.workflows import Exposure
from bot.text.visible_text import code_span
from convoy.events.hold_events import WorkTakenOut
from convoy.gate import unallowed
from convoy.kinds import may_be_too_much
from convoy.model.state import Convoy, Task
from convoy.model.work import Push
from convoy.rules.people import Need
from convoy.rules.turns import dropped_needs
from convoy.text import counted, full_stop, inline, posted

UNVOUCHED: Final = (
    "@{by} no longer has write access to this repository, so nothing new starts in "
    "this convoy. Someone with write access can resume it with `/brat resume`."
)
STOPPED_ALL: Final = (
    "@{by} Every convoy in this repository is paused: {why}. Find the cause. Then say "
    "`/brat resume` for this convoy, or `/brat resume all` for every convoy."
)
UNANSWERED_FOR: Final = (
    "@{by} no longer has permission to merge this work, so it has left the merge "
    "queue. Someone with the maintain role can put it back with `/brat merge` on its "
    "pull request."
)
DEQUEUED: Final = (
    "@{by} The convoy left the merge queue because you removed its pull request from "
    "the forge's queue. `/brat merge` puts it back. Nothing is lost."
)


def plan_unapproved(by: str, why: str, *, lands: bool = False) -> str:
    waits = (
        "The convoy will not land until someone with the maintain role says `/brat "
        "merge` on its pull request."
        if lands
        else "Nothing new starts in this convoy until someone with write access says "
        "`/brat resume`."
    )
    return f"@{by}'s approval of the plan no longer counts: {why}. {waits}"


def log_refused(why: str, helps: str) -> str:
    said = full_stop(inline(f"{why[:1].upper()}{why[1:]}"))
    return (
        "Nothing can start or land in this repository, because the bot cannot save its "
        f"log. {said} {inline(helps)} The bot tries again by itself every minute."
    )


def ci_changed(files: Sequence[str]) -> str:
    named = ", ".join(code_span(path) for path in files[:5])
    return (
        f"This work changes files that control CI, so green CI is not enough: {named}. "
        "It has been removed from the merge queue. To put it back, review these files, "
        "then say `/brat merge` on its pull request."
    )


def exposed(found: Sequence[Exposure]) -> str:
    listed = "\n".join(f"- {inline(f'{one.said}: {one.mend}')}" for one in found)
    said = (
        "CI runs agents' code on `brat/queue/**` and `convoy/**`, and GitHub trusts "
        "these branches. Treat an agent's commit like a pull request from a fork: give "
        f"its jobs no secrets and a read-only token.\n\n{listed}"
    )
    return posted(said, "There is more: `brat doctor --github` lists everything.")


def unstarted(fault: str) -> str:
    return (
        f"CI will not start on brat's candidates, so nothing lands: {inline(fault)}. "
        "GitHub does not start workflows when a job pushes. Set the variable "
        "`BRAT_CI_WORKFLOW` to a workflow file with a `workflow_dispatch` trigger, or "
        "set `[ci] command`, which brat then runs in a separate job."
    )


def comments_unread(count: int) -> str:
    what = counted(count, "comment")
    return (
        f"Agents get this issue's text, but not its {what}. To add something, say "
        "`/brat tell <task> -- text` before the task starts. Or end the convoy with "
        "`/brat cancel`, edit the issue's text, and label the issue again."
    )


def left_out(remarks: Iterable[str]) -> str:
    listed = "\n".join(f"- {inline(each)}" for each in remarks)
    return f"The plan does not include these sub-issues:\n\n{listed}"


def unreported(lacking: Sequence[str], jobs: Sequence[str]) -> str:
    named, others = (", ".join(map(code_span, all_)) for all_ in (lacking, jobs[:10]))
    return (
        f"No workflow in this repository reports the required check {named}, and brat "
        f"knows no other reporter, so work cannot land. The jobs report {others}. "
        "Correct the name in `[refinery] checks` or in the branch rules, or add the "
        "reporter to `[refinery] reporters`."
    )


def left_out_by_paths(checks: Sequence[str]) -> str:
    named = ", ".join(map(code_span, checks))
    return (
        f"The workflow that reports the required check {named} starts only when "
        "certain paths change. Other work gets no result and cannot land. Remove "
        "`paths` from its `push` trigger, and check paths in a step instead."
    )


def left_out_of_queue(checks: Sequence[str]) -> str:
    named = ", ".join(map(code_span, checks))
    return (
        f"The workflow that reports the required check {named} does not run in the "
        "merge queue, which would remove the convoy's pull request. Add `merge_group:` "
        "to its triggers."
    )


def hindered(found: Sequence[str]) -> str:
    listed = "\n".join(f"- {inline(each)}" for each in found)
    return (
        "brat's workflow job lacks permissions. `brat init --actions` writes a file "
        f"that grants them.\n\n{listed}"
    )


def keyless(lacking: Mapping[str, Sequence[str]]) -> str:
    wants = "\n".join(
        f"- {code_span(name)} looks for its key in {' or '.join(map(code_span, keys))}"
        for name, keys in lacking.items()
    )
    said = (
        "This repository has no Actions secret with the key for these engines. Their "
        "sessions end before an agent starts, unless the runner's machine has the key. "
        "Add the secret under Settings > Secrets and variables > Actions.\n\n"
        f"{wants}"
    )
    return posted(said, "There are more: `brat doctor --engines` lists them all.")


ISSUE_CLOSED: Final = (
    "This issue was closed, so its convoy is paused: nothing starts or lands. To "
    "continue, reopen the issue or say `/brat resume`. To end the convoy, say `/brat "
    "cancel`. Finished work is kept."
)


def unlabelled(by: str, label: str) -> str:
    return (
        f"@{by} The convoy has been cancelled because you removed its label. Finished "
        f"work is kept. To start a new convoy, add the label {code_span(label)} again."
    )


def issue_gone(issue: int, how: str) -> str:
    return (
        f"The convoy has been cancelled because issue #{issue} was {how}. Finished "
        "work is kept on this branch."
    )


def base_deleted(branch: str) -> str:
    return (
        f"The branch {code_span(branch)} was deleted, so the convoy is paused and the "
        "forge closed the pull requests into it. `/brat resume` restores the branch "
        "with everything that was merged into it. Then reopen the pull requests that "
        "should land. To end the convoy instead, say `/brat cancel`."
    )


_PUSHED_MOST: Final = 20


def branch_pushed(
    branch: str, pushed: Push, tip: str, kept: str, *, is_tasks: bool
) -> str:
    head = pushed.commit[:10]
    whose, what = ("the task", "") if is_tasks else ("the convoy", "starts or ")
    files = ", ".join(map(code_span, pushed.files[:_PUSHED_MOST])) or "no files"
    faults = "".join(f"\n- {inline(each)}" for each in pushed.faults)
    refused = "The same change by an agent would be refused"
    gate = f"\n\n{refused}:\n{faults}\n" if faults else ""
    return (
        f"Someone pushed {code_span(head)} to {code_span(branch)}. No agent of the "
        f"convoy created this commit. It changes {files} since "
        f"{code_span(tip[:10])}.{gate}\n\nNothing from {whose} {what}lands until "
        f"someone accepts the commit. To accept it, say `/brat approve {head}`. If you "
        f"have the maintain role, {whose} can then land. To reject it, reset the "
        f"branch to {code_span(tip[:10])}. The commit is kept at {code_span(kept)}."
    )


def taken_out(out: WorkTakenOut, wanted: str) -> str:
    what = f"Task {out.task}" if out.task else "The convoy"
    did = {
        "closed": "this pull request was closed. Reopen this pull request to queue it "
        "again, or say `/brat merge` to open a new one",
        "branch": "the branch of this pull request was deleted. Restore the branch and "
        "reopen this pull request to queue it again",
        "base": f"the base of this pull request is now {code_span(out.base)}, not "
        f"{code_span(wanted)}. Change the base back to {code_span(wanted)} to queue it "
        "again",
        "draft": "this pull request was converted to a draft. Mark it as ready for "
        "review to queue it again",
    }
    drop = f"say `/brat drop {out.task}`"
    gone = f" To give up the task for good, {drop}." if out.task else ""
    return (
        f"{what} has been removed from the merge queue because {did[out.gesture]}. "
        f"Nothing is lost.{gone}"
    )


_NEEDS_MOST: Final = 10


def call_text(convoy: Convoy, needs: tuple[Need, ...], whom: str) -> str:
    """Return the comment as Markdown: whom it calls, what waits, how to answer."""
    called = f"@{whom} " if whom else ""
    lines = [f"{called}This convoy needs a decision:", ""]
    lines += ["- " + "".join(_need_said(convoy, need)) for need in needs[:_NEEDS_MOST]]
    if more := len(needs[_NEEDS_MOST:]):
        lines.append(f"- and {more} more, listed in the convoy's comment")
    return "\n".join(lines)


def _need_said(convoy: Convoy, need: Need) -> Iterator[str]:
    task = convoy.task(need.task)
    if task is not None:
        yield f"task {task.number}, {inline(task.spec.title)}: "
    match need.kind:
        case "failed" if convoy.given is not None:
            out = "brat no longer works on this pull request"
            if convoy.given.lands:
                out = f"this pull request will not land on {inline(convoy.target)}"
            yield f"{out}: {full_stop(inline(convoy.why))} "
            yield f"To try its newest commit, say `/brat {convoy.given.verb}`."
        case "failed":
            yield f"the convoy failed: {full_stop(inline(convoy.why))} "
            yield "To resume it, say `/brat retry`. To start over, add the label again."
        case "plan":
            yield "the plan needs approval: review it, then say `/brat approve`."
        case "approve":
            pull = f"#{task.pull}" if task else "its pull request"
            yield f"its work needs approval on {pull}."
        case "landing" if convoy.sync.stalled:
            yield f"its landing is blocked: {full_stop(inline(convoy.sync.stalled))} "
            yield "Fix the problem, then say `/brat retry`."
        case "landing":
            green = " is green and" if convoy.pull else ""
            yield f"{convoy.offer}{green} is waiting for "
            yield f"{inline(convoy.landing_waits)}."
        case "refused":
            if need.aside is not None:
                yield f"{full_stop(inline(need.aside.why))} "
                yield f"{inline(need.aside.helps)} " if need.aside.helps else ""
                again = f"/brat retry task-{task.number}" if task else "/brat retry"
                yield f"brat will retry later. To retry now, say `{again}`."
        case _:  # it is blocked
            yield _unblocking(convoy, task)


def _unblocking(convoy: Convoy, task: Task | None) -> str:
    if task is None:
        return ""
    why = full_stop(inline(task.why))
    if unallowed(task, convoy.settings.gate):
        return why  # it says what helps: another try would not
    parts = ""
    if may_be_too_much(convoy, task):
        parts = f" To split it into parts, say `/brat split {task.number} -- LIST`."
    words = ["retry", "drop"][bool(dropped_needs(convoy, task)) :]
    say = " or ".join(f"`/brat {word} {task.number}`" for word in words)
    return f"{why} Say {say}.{parts}"
