"""What people are told after they closed, deleted or changed something by hand."""

from bot.markdown.code_span import code_span
from convoy.model.work import TakenOut
from convoy.owed import HearIssue


def about_issue(action: HearIssue, issue: int, label: str) -> str:
    """Say what becomes of a convoy after a gesture on its issue; empty: nothing.

    Args:
        action: what was done.
        issue: the issue; if it is gone, the convoy's pull request is told.
        label: the label that asks for a convoy.
    """
    match action.gesture:
        case "closed":
            return (
                "This issue was closed, so its convoy is paused: nothing of it starts "
                "or lands. Reopen the issue, or say `/brat resume`, and it goes on; "
                "`/brat cancel` ends it. What is done is kept."
            )
        case "reopened":
            return ""
        case "unlabelled":
            return (
                f"@{action.by} The convoy is cancelled, because you took its label "
                f"off. What is done is kept. The label {code_span(label)} asks for a "
                "new one."
            )
        case "deleted" | "transferred":
            return (
                f"The convoy is cancelled, because issue #{issue} was "
                f"{action.gesture}. What is done is kept on this branch."
            )


def base_deleted(branch: str) -> str:
    """Say that the convoy is paused, because the branch of its tasks was deleted."""
    return (
        f"The branch {code_span(branch)} was deleted, so the convoy is paused; the "
        "forge closed the pull requests into it. `/brat resume` makes the branch again "
        "with all that has landed on it. Then reopen the pull requests that are to "
        "land. `/brat cancel` ends the convoy. Nothing is lost."
    )


def dequeued(by: str) -> str:
    """Say that the forge's merge queue is not asked again, and what changes that."""
    return (
        f"@{by} The convoy is out of the merge queue, because you took this pull "
        "request out of the forge's. `/brat merge` puts it in again. Nothing is lost "
        "meanwhile."
    )


def taken_out(out: TakenOut, task: int, wanted: str) -> str:
    """Say that work is taken out, and what brings it back.

    Args:
        out: what was done.
        task: whose work it is; 0: the whole convoy's.
        wanted: the branch that it is to be merged into.
    """
    what = f"The work of task {task}" if task else "The convoy"
    backs = {
        "closed": "Reopen this pull request, and it is queued again; `/brat merge` "
        "opens another one for it.",
        "branch": "Restore the branch and reopen this pull request, and it is queued "
        "again.",
        "base": f"Change the base back to {code_span(wanted)}, and it is queued again.",
    }
    did = {
        "closed": "this pull request was closed",
        "branch": "the branch of this pull request was deleted",
        "base": f"the base of this pull request is now {code_span(out.base)}, and it "
        f"may land only on {code_span(wanted)}",
    }
    gone = f" `/brat drop {task}` gives it up for good." if task else ""
    return (
        f"{what} is out of the merge queue, because {did[out.gesture]}. "
        f"{backs[out.gesture]} Nothing is lost meanwhile.{gone}"
    )
