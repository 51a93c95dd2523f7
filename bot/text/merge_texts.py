"""The texts about merges: for people, for commits, and for the agent that goes on.

What an agent is told of a conflict, what both sides were for and did, was written by
others, and is data.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from convoy.model import ids
from convoy.model.records import Strategy
from convoy.model.state import Convoy, Task
from convoy.text import clean, cut, inert
from convoy.text.project_tests import headline
from convoy.text.redaction import redacted

TEXT_CHARS: Final = 2_000
"""How much of the end of CI's text the next attempt is told."""
CI_CHARS: Final = 300
"""How much of CI's text on itself people are told."""
MEND_CI: Final = "Fix CI, and brat will test the work again."
"""What helps when CI itself is at fault."""
_FILES: Final = 5


def ci_is_red(candidate: str, said: str) -> str:
    return f"CI is red on {candidate[:10]}: {what_failed(said)}"


def what_failed(said: str) -> str:
    """Return the tests that failed, else CI's last line; then the end of CI's text."""
    first, end = headline(redacted(clean(said))), end_of(said)
    return first if end.strip() == first else f"{first}\n\n{end}"


def end_of(said: str) -> str:
    """Return the last whole lines of CI's text, without what looks like a secret."""
    text = redacted(clean(said))
    end = text[-TEXT_CHARS:]
    if len(text) == len(end) or text[-TEXT_CHARS - 1] == "\n":
        return end
    return end.partition("\n")[2] or end


def ci_cannot_judge(candidate: str, said: str) -> str:
    told = " ".join(redacted(clean(said)).split())[:CI_CHARS]
    return f"CI gave no verdict on {candidate[:10]}: {told}"


def conflicts(what: str, paths: Sequence[str], *, twins: bool = False) -> str:
    how = " (another name differs only in case or Unicode form)" if twins else ""
    return f"it conflicts with {what} in {', '.join(paths[:_FILES])}{how}"


TAKEN_OUT: Final = (
    "it has commits that a force push took out of {}: rebase it without them"
)

NOT_BACK: Final = (
    " People have taken commits out of {} by a force push, which the convoy still had: "
    "where its side shows what they took out, leave that out."
)


def may_not_write(by: str) -> str:
    return f"{by} no longer has write access to this repository"


def convoy_merge(convoy: Convoy) -> str:
    again = f"Brat-Try: {convoy.sync.judged + 1}\n" if convoy.sync.judged else ""
    title, about = f"Merge convoy {convoy.name}: {convoy.title}", f"For #{convoy.issue}"
    if given := convoy.lands_given:
        of = f" from {given.branch}" if given.branch else f" of {given.author}"
        title, about = f"Merge pull request #{given.number}{of}", convoy.title
    return inert(f"{title}\n\n{about}\n{again}")


def target_merge(convoy: Convoy, branch: str) -> str:
    """Return the message of a commit that takes a branch in; each try has another."""
    into = convoy.target if convoy.given else ids.base_branch(convoy.name)
    title, again = f"Merge {branch} into {into}", convoy.sync.judged + 1
    return inert(f"{title}\n\nFor #{convoy.issue}\nBrat-Try: {again}\n")


def work_merge(convoy: Convoy, task: Task) -> str:
    branch = ids.base_branch(convoy.name)
    title = f"Merge the work of task {task.number} into {branch}"
    return inert(f"{title}\n\nFor #{convoy.issue}\n")


def task_landing(convoy: Convoy, task: Task, strategy: Strategy) -> str:
    title = task.spec.title
    if strategy == "merge":
        title = f"Merge task {task.number} of {convoy.name}: {title}"
    branch = ids.task_branch(convoy.name, task.number)
    return inert(f"{title}\n\nBrat-Task: {branch}\n")


def landing_message(convoy: Convoy, method: Strategy) -> tuple[str, str]:
    if method == "merge":
        title, _, text = convoy_merge(convoy).partition("\n\n")
        return title, text.strip()
    offered = convoy.candidate.at if convoy.candidate else 0
    merged = (t for t in convoy.tasks if t.landed and t.ended_at <= offered)
    done = "\n".join(f"- {task.spec.title}" for task in merged)
    title = f"{convoy.title} (#{convoy.pull})"
    return inert(title), inert(f"{done}\n\nConvoy {convoy.name}, for #{convoy.issue}")


DIFF_CHARS: Final = 12_000
"""How much of each side's patch is told."""
_INTENT_CHARS: Final = 2_000
_TASKS: Final = 3
"""The most other tasks whose purpose is told."""
_PATHS: Final = 20
_TOLD: Final = """\
### The files that conflict

{paths}

### What others have changed in these files since

{commits}
{others}
{landed}

### What this task's own work changed in these files

{own}
"""
_TASK: Final = "\nTask {number} had these instructions:\n\n{title}\n\n{instructions}\n"


def conflict_text(
    paths: Sequence[str],
    commits: Sequence[str],
    others: Sequence[Task],
    landed: str,
    own: str,
) -> str:
    """Return both sides of a conflict, in the files that conflict.

    `commits` that landed and the tasks of some of them, `others`, are the newest first;
    `landed` and the task's `own` change are patches.
    """
    tasks = (
        _TASK.format(
            number=task.number,
            title=task.spec.title,
            instructions=cut(task.spec.instructions.strip(), _INTENT_CHARS),
        )
        for task in others[:_TASKS]
    )
    text = _TOLD.format(
        paths=_listed(paths[:_PATHS]),
        commits=_listed(commits),
        others="".join(tasks),
        landed=cut(landed.strip(), DIFF_CHARS),
        own=cut(own.strip(), DIFF_CHARS),
    )
    return clean(text)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
