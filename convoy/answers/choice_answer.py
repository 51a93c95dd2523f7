"""Choices: what a session that compares rivals is told, and what it answers.

The rivals' work and their answer were all written by others, and are data.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from convoy.answers.answer_form import Form, asked_for, parsed, words
from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.events.forge_actions import Answer
from convoy.kinds.choice_kind import KIND, left, rivals
from convoy.model import ids
from convoy.model.state import Task
from convoy.rules.make_choice import MakeChoice
from convoy.text.escaped_markdown import harmless, inline
from convoy.text.fence import fence_of, fenced
from convoy.text.json_block import Unfit
from convoy.text.plaintext import clean, cut

DIFFS_CHARS: Final = 60_000
"""Of all rivals; each has as much as any other."""
TEXT_CHARS: Final = 2_000

_BRIEF: Final = """\
Several agents did the same task, each without seeing the others' work, and CI found
all of these green: tasks {numbers}. This folder is a checkout as it was before. Compare
what they changed, and choose the one that lands; the others are thrown away. Look for
the one that does what was asked, all of it and nothing else, is right where tests do
not look, and fits the code around it. Change nothing in this folder.

{asked_for}
`winner` is the number of one of these tasks, `text` says in a few sentences why it is
the best, and what the others lack.

## What was asked for

{asked}
"""


class Choice(Form):
    """A choice, as an agent writes it."""

    winner: int
    text: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS)]


def room(rivals: Sequence[Task]) -> int:
    """Return how many characters of its change each rival is shown with."""
    return DIFFS_CHARS // max(1, len(rivals))


def brief(rivals: Sequence[tuple[Task, str]], fence: str) -> str:
    """Return what a judge is told beside its own task, in Markdown.

    Args:
        rivals: those that can be chosen, each with its work as a patch.
        fence: the session's own.
    """
    first = rivals[0][0].spec
    parts = [
        _BRIEF.format(
            numbers=", ".join(str(task.number) for task, _ in rivals),
            asked_for=asked_for("your choice", Choice),
            asked=fenced(clean(f"{first.title}\n\n{first.instructions}"), fence),
        )
    ]
    most = room([task for task, _ in rivals])
    for task, diff in rivals:
        is_cut = " (the beginning of it)" if len(diff) > most else ""
        parts.append(f"## What task {task.number} changed{is_cut}\n")
        parts.append(fenced(clean(cut(diff, most)), fence) + "\n")
    return "\n".join(parts)


def read(text: str, rivals: Sequence[Task], green: Sequence[Task]) -> Choice:
    """Return the choice that an agent made, cleaned.

    Args:
        text: what it wrote, with the choice as the last JSON object.
        rivals: all that there are.
        green: those that can be chosen.

    Raises:
        Unfit: it is none, or names what cannot be chosen.
    """
    found = parsed(text, Choice, KIND.answer)
    numbers = [task.number for task in green]
    if found.winner not in numbers:
        known = any(task.number == found.winner for task in rivals)
        why = "is not green in CI" if known else "is none of the rivals"
        there = ", ".join(map(str, numbers))
        raise Unfit(f"Task {found.winner} {why}: choose one of {there}.")
    return Choice(winner=found.winner, text=words(found.text))


def shown(task: Task, found: Choice) -> str:
    """Return a choice as people read it, in Markdown."""
    head = f"**Task {task.number} ({inline(task.spec.title)})** chose task "
    return "\n".join((f"{head}{found.winner}:", "", *harmless(found.text)))


def _told(question: Question) -> str:
    found = left(question.convoy, question.task)
    most = room(found)
    diff = question.repository.diff
    diffs = [
        (task, diff(task.work.base, task.work.commit, most))
        for task in found
        if task.work is not None
    ]
    return brief(diffs, fence_of(question.session)) if diffs else ""


def _read(reply: Reply) -> Taken:
    convoy, task = reply.convoy, reply.task
    found = read(reply.text, rivals(convoy, task), left(convoy, task))
    sign = ids.session_name(convoy.name, task.number, reply.attempt.number)
    return Taken(
        command=MakeChoice(
            convoy=convoy.name,
            task=task.number,
            attempt=reply.attempt.number,
            on=found.winner,
            text=found.text,
            usage=reply.usage,
        ),
        said=Answer(
            issue=convoy.issue,
            sign=ids.sign_key(KIND.name, sign),
            text=shown(task, found),
        ),
    )


CHOICE_ANSWER = Answering(
    kind=KIND, none="the engine chose nothing", told=_told, read=_read
)
