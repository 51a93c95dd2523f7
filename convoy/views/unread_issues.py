"""The issues that ask for a convoy and have none yet: what each waits for. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from convoy.model.asides import set_aside
from convoy.model.set_aside import another_try, delivery_item, issue_item
from convoy.model.state import State
from convoy.views.interventions import Intervention

SOON: Final = "the loop takes it up at its next look"


class LabelledIssue(Struct, frozen=True, kw_only=True):
    """An open issue with the label that asks for a convoy."""

    number: int
    title: str
    never: str = ""
    """The label that keeps brat away from it; empty: it has none."""


def unread(
    issues: Iterable[LabelledIssue], state: State, commands: tuple[str, ...] = ()
) -> Iterator[Intervention]:
    """Yield each labelled issue that no convoy works on.

    Args:
        issues: as the forge shows them.
        state: what the log says.
        commands: what makes brat read them; empty: its loop runs and soon will.
    """
    at_work = {convoy.issue for convoy in state.live()}
    for issue in issues:
        if issue.number not in at_work:
            why = f"issue #{issue.number} {issue.title!r} waits to be read: "
            reason = _reason(issue, state, commands)
            yield Intervention(
                kind="issue_next" if reason == SOON else "unread_issue",
                issue=issue.number,
                why=why + reason,
                commands=() if issue.never else commands,
            )


def _reason(issue: LabelledIssue, state: State, commands: tuple[str, ...]) -> str:
    if issue.never:
        return f"its label {issue.never} keeps brat away from it"
    items = issue_item(issue.number), delivery_item(f"sweep-{issue.number}")
    for aside in filter(None, (set_aside(state, item) for item in items)):
        return another_try(aside)
    if commands:
        return "no mayor has run since it was labelled"
    return SOON
