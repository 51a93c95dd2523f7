"""What people are told after they closed, deleted or changed something by hand."""

from bot.markdown.code_span import code_span
from convoy.model.taken_out import TakenOut


def taken_out(out: TakenOut, task: int, wanted: str) -> str:
    """Say that work is taken out, and what brings it back.

    Args:
        out: what was done.
        task: whose work it is; 0: the whole convoy's.
        wanted: the branch that it is to be merged into.
    """
    what = f"The work of task {task}" if task else "The convoy"
    backs = {
        "closed": "Reopen this pull request, and it is queued again.",
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
