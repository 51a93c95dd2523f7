"""The verbs about work: `retry`, `revise`, `rebase`, `tell`, `cancel`, `drop`."""

import asyncio
from typing import Final

from bot.requests import verb
from bot.requests.verb import NotPossible, RequestContext, row
from bot.text.visible_text import code_span
from convoy.events import copied
from convoy.events.forge_actions import ItemTakenUp
from convoy.events.people_events import TaskTold
from convoy.events.plan_events import ConvoyReplanned
from convoy.events.task_events import ConvoyFailed
from convoy.gate import unallowed
from convoy.kinds import is_stopped
from convoy.model import ids
from convoy.model.ids import task_item
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Task
from convoy.model.work import Work
from convoy.rules import people, retries
from convoy.rules.plans import AddTask


def _retry_failed(context: RequestContext, task: int | None) -> str:
    """Take up a convoy that failed; say what of it stays dropped, and why."""
    convoy = context.convoy
    if task is not None:
        whole = f"{convoy.name} has failed: say `/brat retry` without a task"
        raise NotPossible(whole)
    context.decide(people.RetryConvoy)
    stays = [
        f"Task {each.number} stays dropped: {each.why.rstrip('.')}."
        for each in context.convoy.tasks
        if each.state == "dropped"
    ]
    return " ".join(("The convoy continues with its earlier work.", *stays))


def _take_up(context: RequestContext, task: int | None) -> str:
    """Take up what the forge refused; return when it is tried; empty: nothing was."""
    state, name = context.draft.state, context.convoy.name
    items = [
        item
        for item, _ in state.asides_of(name)
        if task is None or item == task_item(name, task)
    ]
    for item in items:
        context.submit(ItemTakenUp(item=item, by=context.by))
    left = dict(context.draft.state.asides_of(name))
    if any(item in left for item in items):
        return "as soon as a slot is free"
    return "immediately" if items else ""


def _is_blocked(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    return task is not None and task.state == "blocked"


def _stopped(convoy: Convoy) -> list[int]:
    if convoy.ended:
        return []
    numbers = [
        task.number
        for task in convoy.tasks
        if (is_stopped(convoy, task) and not unallowed(task, convoy.settings.gate))
        or task.waits_aside
    ]
    return numbers[: verb.MOST_BOXES]


@row(
    words=(verb.ANY_TASK,),
    text="may",
    text_help="A message for the agent.",
    help="Retries a blocked or set-aside task with fresh attempts; without a "
    "task, retries everything that is waiting here, or resumes a failed "
    "convoy with its work so far. The agent gets the text.",
    box=verb.Box(says="Try task {task} again", offered=_stopped),
    on_check=verb.CheckButton(
        label="Try again",
        says="Queues the task with fresh attempts",
        offered=lambda convoy, task: task.number in _stopped(convoy),
    ),
    of_task=verb.Endpoint(
        help="Queue a blocked task again, with fresh attempts.",
        button=lambda task: task.state == "blocked" or task.waits_aside,
    ),
    of_convoy=verb.Endpoint(
        help="Retry everything that is blocked or set aside in a convoy, or "
        "resume a failed convoy.",
        button=lambda convoy: (
            convoy.waits_aside or convoy.state == "failed" or bool(convoy.sync.stalled)
        ),
    ),
)
def retry(context: RequestContext, *, task: int | None = None, text: str = "") -> str:
    convoy = context.convoy
    if convoy.state == "failed" and text:
        raise NotPossible(f"{convoy.name} has failed: say `/brat retry` without text")
    if convoy.state == "failed":
        return _retry_failed(context, task)
    stalled = task is None and bool(convoy.sync.stalled)
    if stalled:
        context.decide(people.RetryConvoy)
    aside = _take_up(context, task)
    own, gate = context.own_task, convoy.settings.gate
    blocked = [
        each.number
        for each in convoy.tasks
        if each.state == "blocked" and not unallowed(each, gate)
    ]
    here = [own.number] * (own.state == "blocked") if own else blocked
    numbers = here if task is None else [task]
    if aside and (task is None or not _is_blocked(convoy, task)):
        numbers = blocked if task is None else []
    if not (numbers or aside or stalled):
        raise NotPossible("nothing is blocked or set aside")
    for number in numbers:
        if task is None and not _is_blocked(context.convoy, number):
            continue  # retrying another task unblocked it
        context.decide(retries.RetryTask, task=number)
    for number in numbers if text else ():
        tell.rule(context, task=number, text=text)
    them, told = ", ".join(map(str, numbers)), " and your message" if text else ""
    they = f"Tasks {them} are" if len(numbers) > 1 else f"Task {them} is"
    queued = f"{they} queued again, with fresh attempts{told}."
    if not numbers:
        queued = "No task was requeued, so no agent got the message." if text else ""
    again = f"Everything that was set aside will be retried {aside}." if aside else ""
    landing = "CI tests the candidate again." if stalled else ""
    return " ".join(filter(None, (landing, queued, again)))


NO_WORK: Final = "this is not a task's pull request, or the task has no work yet"


def _rework(context: RequestContext, convoy: Convoy, text: str) -> str:
    """Let a task do what is said of the convoy's own pull request, and land with it."""
    name, by, title = convoy.name, context.by, f"Do what was said of #{convoy.pull}"
    rounds = [task for task in convoy.tasks if task.spec.title == title]
    number = next((task.number for task in rounds if not task.settled), 0)
    if not number and context.asker.allowed and len(rounds) >= convoy.settings.attempts:
        raise NotPossible(
            f"the convoy has reached its limit of {len(rounds)} revisions; a person "
            "must continue with a review or `/brat add`"
        )
    if not number:
        number = convoy.next_number
        told = "A reviewer commented on the convoy's work as a whole, as shown below."
        spec = TaskSpec(number=number, title=title, instructions=told)
        context.decide(AddTask, spec=spec)
    _submit_said(context, TaskTold(convoy=name, task=number, by=by, text=text))
    return f"Task {number} will make the changes. CI will then test the convoy again."


def _submit_said(
    context: RequestContext, command: retries.ReviseTask | TaskTold
) -> None:
    """Tell a task what was said, of lines of its work or else of all of it."""
    threads = context.asker.threads
    of_lines = copied(retries.RaiseThreads, command, threads=threads)
    context.submit(of_lines if threads else command)


def _rebase_now(context: RequestContext, convoy: Convoy, task: Task, work: Work) -> str:
    """Rebase the work onto the convoy's branch and move the task's branch; blocking."""
    from bot.repository.compose import Conflicted, Piece
    from bot.text.merge_texts import task_landing

    bot, draft = context.bot, context.draft
    onto = draft.refs.get(ids.HEADS + ids.base_branch(convoy.name), work.base)
    bot.mirror.ensure([work.commit, work.base, onto])
    branch = ids.task_branch(convoy.name, task.number)
    message = task_landing(convoy, task, "rebase")
    piece = copied(Piece, work, work=work.commit, onto=onto, message=message)
    made = bot.composer.build("rebase", piece)
    if isinstance(made, Conflicted):
        named = ", ".join(code_span(path) for path in made.paths[:5])
        raise NotPossible(f"the work conflicts with newly landed work in {named}")
    what = {"task": task.number, "old": work.commit, "commit": made, "base": onto}
    context.decide(people.RebaseWork, **what)
    _keep_work(context, convoy, task)
    draft.move(ids.HEADS + branch, made)
    more = " It needs a new approval." if convoy.settings.approvals else ""
    return f"The work has been rebased and is now at `{made[:10]}`.{more}"


def _keep_work(context: RequestContext, convoy: Convoy, task: Task) -> None:
    """Keep the work that is being replaced: no work is ever lost."""
    if task.work is not None:
        work = task.work
        context.draft.keep(convoy.name, task.number, work.attempt, work.commit)


@row(
    text="must",
    text_help="What to change in the plan.",
    help="On a task's pull request, sends the task back for revision. On "
    "the convoy's own pull request, adds a revision task. A review that requests "
    "changes does the same. On the issue, requests a new plan while the plan is "
    "waiting for approval.",
    of_convoy=verb.Endpoint(
        button=lambda convoy: convoy.state == "planning" and bool(convoy.tasks),
        help="Request a new plan based on the text.",
    ),
)
def revise(context: RequestContext, *, text: str) -> str:
    """Send the task back with the text; its next attempt goes on from its work."""
    convoy, task = context.convoy, context.own_task
    if task is None and context.asker.number == convoy.pull and convoy.given is None:
        return _rework(context, convoy, text)
    if task is None and context.asker.number not in (0, convoy.issue):
        raise NotPossible(NO_WORK)
    if task is None:
        context.decide(ConvoyReplanned, text=text)
        return "brat is making a new plan, which will show what changed."
    name, number, by = convoy.name, task.number, context.by
    revise = retries.ReviseTask(convoy=name, task=number, by=by, text=text)
    _submit_said(context, revise)
    _keep_work(context, convoy, task)
    if task.spent >= convoy.settings.attempts:
        return (
            f"Task {number} has no attempts left and is waiting for a person. "
            f"`/brat retry {number}` lets it continue with your comments."
        )
    return f"Task {number} continues its work and will address your comments."


@row(
    place="pull",
    help="Rebases the task's work onto the latest landed work.",
)
async def rebase(context: RequestContext) -> str:
    convoy, task = context.convoy, context.own_task
    if task is None or task.work is None:
        raise NotPossible(NO_WORK)
    return await asyncio.to_thread(_rebase_now, context, convoy, task, task.work)


REVISION: Final = (revise, rebase)


@row(
    words=(verb.TASK,),
    text="must",
    text_help="The message.",
    help="Sends a message to the task's next attempt.",
    of_task=verb.Endpoint(
        button=lambda task: not task.settled,
        help="Send a message to the task's later attempts, and to its session if "
        "the engine accepts messages.",
    ),
)
def tell(context: RequestContext, *, task: int, text: str) -> str:
    convoy = context.convoy
    context.decide(TaskTold, task=task, text=text)
    found = convoy.task(task)
    if found is None or found.attempt is None:
        return f"The next attempt at task {task} will get the message."
    session = ids.session_name(convoy.name, task, found.attempt.number)
    feed = context.bot.feed
    if feed is not None and feed.listens(session):
        return (
            f"The message goes to the current session of task {task} and to all later "
            f"attempts. `brat why {task}` shows when the engine has received it."
        )
    return f"Only the next attempt at task {task} will get the message."


def _require_session(convoy: Convoy, request: verb.Request) -> None:
    number = request.arguments["task"]
    task = convoy.task(number)
    if task is None or task.attempt is None:
        raise NotPossible(f"task {number} of {convoy.name} has no running session")


@row(
    words=(verb.ANY_TASK,),
    help="Stops a task's session; the task then waits for a person. Without a "
    "task, ends the whole convoy.",
    box=verb.Box(
        says="Cancel the convoy",
        offered=lambda convoy: () if convoy.ended else (0,),
    ),
    of_task=verb.Endpoint(
        word="stop",
        typed="session stop",
        help="Stop a task's session; the task then waits until you retry or drop it.",
        button=lambda task: task.state != "blocked" and task.attempt is not None,
        check=_require_session,
    ),
    of_convoy=verb.Endpoint(
        help="End a convoy; finished work is kept.",
        button=lambda convoy: convoy.state in ("planning", "active", "paused"),
    ),
)
def cancel(context: RequestContext, *, task: int | None = None) -> str:
    if task is None:
        context.decide(ConvoyFailed, why=f"cancelled by {context.by}")
        return "The convoy is cancelled. Finished work is kept."
    word = "stopped" if context.asker.at_endpoint else "cancelled"
    context.decide(people.BlockTask, task=task, why=f"{word} by {context.by}")
    return (
        f"Task {task} has been stopped. To try it again, say `/brat retry {task}`. To "
        f"give it up, say `/brat drop {task}`."
    )


@row(
    words=(verb.TASK,),
    help="Gives up a task for good; tasks that need it then wait for a person.",
    on_check=verb.CheckButton(
        label="Give up",
        says="Drops the task for good",
        offered=lambda _, task: task.state == "blocked",
    ),
    of_task=verb.Endpoint(
        help="Give up a task; tasks that need it then wait for you.",
        button=lambda task: task.state == "blocked" or not task.settled,
    ),
)
def drop(context: RequestContext, *, task: int) -> str:
    context.decide(people.DropTask, task=task, why=f"dropped by {context.by}")
    return f"Task {task} is dropped."


ENDING: Final = (cancel, drop)
