"""`tell`: says something to a task's sessions."""

from typing import Final

from bot.verbs.arguments import TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import TaskEndpoint, Verb
from convoy.events.people_events import TellTask
from convoy.model import ids


def _tell(context: RequestContext, *, task: int, text: str) -> str:
    """Tell the running session, if its engine takes messages, and all later ones."""
    convoy = context.convoy
    context.submit(TellTask(convoy=convoy.name, task=task, by=context.by, text=text))
    found = convoy.task(task)
    if found is None or found.attempt is None:
        return f"The next attempt of task {task} will be told."
    session = ids.session_name(convoy.name, task, found.attempt.number)
    feed = context.bot.feed
    if feed is not None and feed.listens(session):
        return (
            f"The session of task {task} is told now, and every later attempt will "
            f"be. `brat why {task}` says when its engine was given it."
        )
    return (
        f"The next attempt of task {task} will be told. The one that runs now does "
        "not hear of it."
    )


VERBS: Final = (
    Verb(
        name="tell",
        words=(TASK,),
        text="must",
        text_help="What is to be said.",
        help="Tells the task's next attempt what the text says.",
        rule=_tell,
        of_task=TaskEndpoint(
            word="tell",
            typed="task tell",
            help="Say something to the task's session, if its engine hears, and to "
            "all later.",
        ),
    ),
)
