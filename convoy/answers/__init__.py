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
        *(plan_answer.PLAN_ANSWER, split_answer.SPLIT_ANSWER),
        *(report_answer.REPORT_ANSWER, report_answer.SCOUT_ANSWER),
        *(review_answer.REVIEW_ANSWER, choice_answer.CHOICE_ANSWER),
    )
}
"""By kind of task; a kind that is not here brings a change."""
