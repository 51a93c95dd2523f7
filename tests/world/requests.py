"""Requests put to rules in memory, by the one way that the bot's requests go."""

import os
from pathlib import Path
from typing import Final

from bot.requests.answers import carry_out
from bot.requests.verb import Asker, Request
from bot.roles.bot_context import BotContext, BotDraft
from bot.text.replies import Reply
from convoy.events import Command, Refusal
from tests.world.model.bot import Bot
from tests.world.model.forge import Forge
from tests.world.rules import ACTOR, Rules

NO_CONFIGURATION: Final = Path(os.devnull)


class RulesDraft(BotDraft):
    """A draft over rules in memory: what it takes is true at once."""

    def __init__(self, bot: BotContext, rules: Rules) -> None:
        self.bot = bot
        self._rules = rules
        self.state = rules.state
        self.now = rules.now
        self.refs = {}

    def submit(self, command: Command) -> Refusal | None:
        refused = self._rules.ask(command)
        self.state = self._rules.state
        return refused


async def carried_out(rules: Rules, asker: Asker, request: Request) -> Reply:
    context = Bot(Forge(), ACTOR, []).context
    update = {"config_file": NO_CONFIGURATION}
    context.settings = context.settings.model_copy(update=update)
    return await carry_out(RulesDraft(context, rules), asker, request)
