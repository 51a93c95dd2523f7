"""Reviews: what a session that looks at another task's work is told, and answers.

The work, what was asked for, and the verdict were all written by others, and are data.
"""

from typing import Annotated, Final

from pydantic import Field

from convoy.answers.answer_form import Form, asked_for, parsed, words
from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.events.forge_actions import Answer
from convoy.kinds.review_kind import KIND
from convoy.model import ids
from convoy.model.records import Opinion
from convoy.model.state import Task
from convoy.rules.take_review import AcceptReview
from convoy.text.escaped_markdown import harmless, inline
from convoy.text.fence import fence_of, fenced
from convoy.text.json_block import Unfit
from convoy.text.plaintext import clean, cut

DIFF_CHARS: Final = 40_000
TEXT_CHARS: Final = 8_000

_BRIEF: Final = """\
Another agent did task {number}, and you have not seen how. This folder is a checkout
with its work in it. Look at the work with fresh eyes: whether it does what was asked,
all of it and nothing else, and what goes wrong with it. Read the code around it, and
run what helps; nothing that you change here is used.

{asked_for}
`changes` sends the work back to its agent with your `text`: each point with its place
and what is to be different. Ask only for what must change; `approve` may have a `text`,
too.

## What was asked for

{asked}

## What it changed{cut}

{diff}
"""


class ReviewAnswer(Form):
    """A verdict, as an agent writes it."""

    verdict: Opinion
    text: Annotated[str, Field(max_length=TEXT_CHARS)] = ""


def brief(subject: Task, diff: str, fence: str) -> str:
    """Return what a reviewer is told beside its own task, in Markdown.

    Args:
        subject: the task whose work it is.
        diff: the work, as a patch.
        fence: the session's own.
    """
    spec = subject.spec
    is_cut = len(diff) > DIFF_CHARS
    return _BRIEF.format(
        number=subject.number,
        asked_for=asked_for("your verdict", ReviewAnswer),
        asked=fenced(clean(f"{spec.title}\n\n{spec.instructions}"), fence),
        cut=" (the beginning of it: see the files themselves)" if is_cut else "",
        diff=fenced(clean(cut(diff, DIFF_CHARS)), fence),
    )


def read(text: str) -> ReviewAnswer:
    """Return the verdict that an agent wrote, cleaned.

    Raises:
        Unfit: it is none, or asks for changes and does not say which.
    """
    found = parsed(text, ReviewAnswer, KIND.answer)
    said = words(found.text)
    if found.verdict == "changes" and not said:
        raise Unfit("The review asks for changes and does not say which.")
    return ReviewAnswer(verdict=found.verdict, text=said)


def shown(task: Task, commit: str, found: ReviewAnswer) -> str:
    """Return a verdict as people read it, in Markdown."""
    said = {"approve": "approves", "changes": "asks for changes of"}[found.verdict]
    head = f"**Task {task.number} ({inline(task.spec.title)})** {said} `{commit[:10]}`"
    return "\n".join((f"{head}{':' if found.text else '.'}", "", *harmless(found.text)))


def _told(question: Question) -> str:
    subject = question.convoy.task(question.task.spec.on[0])
    if subject is None or subject.work is None:
        return ""
    work = subject.work
    diff = question.repository.diff(work.base, work.commit, DIFF_CHARS)
    return brief(subject, diff, fence_of(question.session))


def _read(reply: Reply) -> Taken:
    convoy, task, attempt = reply.convoy, reply.task, reply.attempt
    found = read(reply.text)
    subject = convoy.task(task.spec.on[0])
    sign = ids.session_name(convoy.name, task.number, attempt.number)
    pull = subject.pull if subject is not None else None
    return Taken(
        command=AcceptReview(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            verdict=found.verdict,
            text=found.text,
            usage=reply.usage,
        ),
        said=Answer(
            issue=pull or convoy.issue,
            sign=ids.sign_key(KIND.name, sign),
            text=shown(task, attempt.base, found),
        ),
        kept=subject if found.verdict == "changes" else None,
    )


REVIEW_ANSWER = Answering(
    kind=KIND, none="the engine gave no review", told=_told, read=_read
)
