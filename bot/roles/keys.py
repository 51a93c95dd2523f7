"""Has each engine of a new convoy its model's key? Asked before money is spent."""

from bot.desk import Desk
from bot.orders import replies
from bot.repository.draft import Draft
from convoy import ids
from convoy.commands import Answer, RequestConvoy
from convoy.engine_keys import looked_in


async def warn(desk: Desk, draft: Draft, convoy: RequestConvoy) -> None:
    """Announce an answer that names the secrets which are missing.

    Silent when all is there, and where the bot may not know. Safe to call twice.
    """
    names = await desk.secret_names()
    if names is None:
        return
    wanted = {
        name: looked_in(engine) for name, engine in convoy.settings.engines.items()
    }
    lacking = {
        name: keys for name, keys in wanted.items() if keys and names.isdisjoint(keys)
    }
    if lacking:
        sign = ids.sign_key("keys", convoy.convoy)
        text = replies.keyless(lacking)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))
