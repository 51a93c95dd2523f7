"""Notes what people did by hand on the forge, and tells them once what it means."""

from msgspec.structs import replace

from bot.context.bot_context import BotContext
from bot.messages import gesture_texts
from bot.messages.convoy_labels import NO
from bot.repository.draft import Draft
from bot.roles import pull_look
from convoy.events.forge_actions import Answer
from convoy.events.taken_out_work import TakeOutWork
from convoy.model import ids
from convoy.owed.actions import TakeOut
from convoy.owed.gestures import gestures


async def is_wanted(context: BotContext, draft: Draft, convoy: str) -> bool:
    """Look just before a landing whether a person has said no by hand.

    A delivery may be late or lost, and a sweep far off. What is found is then owed.
    """
    pulls = await pull_look.look(context)
    context.observed = replace(context.observed, pulls=pulls)
    seen = replace(context.observed, refs=draft.refs)
    return not any(gestures(draft.state.convoys[convoy], seen))


def take_out(draft: Draft, action: TakeOut) -> None:
    """Take work out, and say on its pull request what brings it back."""
    out, convoy = action.out, draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    part = task or convoy
    wanted = ids.base_branch(convoy.name) if task else convoy.target
    command = TakeOutWork(convoy=convoy.name, task=action.task, out=out)
    if draft.submit(command) is None and NO not in (convoy.held, part.held):
        text = gesture_texts.taken_out(out, action.task, wanted)
        say(draft, out.pull, f"{convoy.name}/{action.task}", text)


def say(draft: Draft, number: int, what: str, text: str) -> None:
    """Announce a comment on an issue or pull request about what was done to it."""
    sign = ids.sign_key("gesture", f"{what}/{draft.now}")
    draft.submit(Answer(issue=number, sign=sign, text=text))
