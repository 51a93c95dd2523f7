"""What sessions answer that bring no change: asked for, read, and made a command."""

from typing import Final

from convoy.answers import (
    choice_answer,
    plan_answer,
    report_answer,
    review_answer,
    split_answer,
)
from convoy.answers.answering import Answering
from convoy.kinds.task_kind import Name

ANSWERS: Final[dict[Name, Answering]] = {
    each.kind.name: each
    for each in (
        *(plan_answer.ANSWERING, report_answer.REPORT, report_answer.SCOUT),
        *(review_answer.ANSWERING, choice_answer.ANSWERING, split_answer.ANSWERING),
    )
}
"""By kind of task; a kind that is not here brings a change."""
