"""Lists in a staged convoy's comment the steps it would take unstaged. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.text import counted

HOW_ON: Final = (
    "To let it go on, take `staged = true` out of `.brat/config.toml` and say "
    "`/brat approve`."
)
_JUDGED: Final = {
    True: "when its checks are green",
    False: "unjudged, since `require_ci = false`",
}


def lines(convoy: Convoy) -> tuple[str, ...]:
    """Return the steps that would happen, in order, as Markdown.

    Args:
        convoy: a staged convoy with a plan.
    """
    return (
        "**Staged:** nothing has started, and nothing will. Without that, brat would",
        *(f"{number}. {said};" for number, said in enumerate(_steps(convoy), 1)),
        "",
        HOW_ON,
    )


def _steps(convoy: Convoy) -> Iterator[str]:
    settings, base = convoy.settings, ids.base_branch(convoy.name)
    first = [task for task in convoy.tasks if not task.spec.after]
    at_once = min(len(first), settings.max_sessions)
    yield f"lay the branch `{base}` at `{convoy.base[:10]}`"
    yield f"start {counted(at_once, 'session')} at once ({_engines(convoy.tasks)})"
    judged = _JUDGED[settings.require_ci]
    pulls = counted(len(convoy.tasks), "pull request")
    yield f"open {pulls} into it and land each by {settings.strategy}, {judged}"
    if settings.approvals:
        yield f"wait for {counted(settings.approvals, 'approval')} of each before that"
    yield f"open one pull request into `{convoy.target}` and land it, {judged}"


def _engines(tasks: tuple[Task, ...]) -> str:
    counts = Counter(task.spec.engine for task in tasks)
    each = (f"{counted(many, 'task')} by `{name}`" for name, many in counts.items())
    return ", ".join(each)
