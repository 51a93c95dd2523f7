"""A sync: it merges the target into the convoy's branch where git or CI says no."""

from typing import Final

from convoy.kinds.task_kind import TaskKind
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy
from convoy.text import clean

_CHECKOUT: Final = (
    "Your checkout is a merge of this convoy's branch and of `{target}`, which has "
    "moved on. Make it whole: what both sides meant has to hold, and nothing else "
    "changes."
)
_CONFLICT: Final = (
    "They conflict in these files:\n\n{files}\n\nEach conflict in a text stands "
    "between lines that begin with `<<<<<<<` (the convoy's side first) and `>>>>>>>`; "
    "no such line may be left. A file that one side deleted or renamed is there as "
    "git left it: keep it or remove it."
)
_RED: Final = (
    "They merge without a conflict, but CI is red on the result, twice. If nothing has "
    "to change, end with `noop`: CI then judges it once more. CI says:\n\n{text}"
)


def sync_spec(
    convoy: Convoy, why: str, paths: tuple[str, ...], said: str = ""
) -> TaskSpec:
    """Return a task that takes the target in.

    Args:
        convoy: the one that could not.
        why: what went wrong, in a sentence.
        paths: the files that conflict; empty: none does.
        said: CI's text where it is red.
    """
    files = "\n".join(f"- {path}" for path in paths)
    told = _CONFLICT.format(files=files) if paths else _RED.format(text=said)
    return TaskSpec(
        number=convoy.next_number,
        title=f"Take {convoy.target} in",
        instructions=clean(f"{_CHECKOUT.format(target=convoy.target)}\n\n{told}"),
        kind="sync",
        why=why,
    )


def _must_change(_task: TaskSpec) -> str:
    return "ends in a merge, even where nothing is to change"


KIND = TaskKind(
    name="sync",
    title="a sync",
    in_templates=False,
    may_be_needed=False,
    takes_target_in=True,
    must_change=_must_change,
)
