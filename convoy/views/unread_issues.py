"""The issues that ask for a convoy and have none yet: what each waits for. Pure."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from convoy.model.state import State
from convoy.views.interventions import Intervention


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
            yield Intervention(
                kind="unread_issue",
                issue=issue.number,
                why=why + _reason(issue, commands),
                commands=() if issue.never else commands,
            )


def _reason(issue: LabelledIssue, commands: tuple[str, ...]) -> str:
    if issue.never:
        return f"its label {issue.never} keeps brat away from it"
    if commands:
        return "no mayor has run since it was labelled"
    return "the loop takes it up at its next look"
