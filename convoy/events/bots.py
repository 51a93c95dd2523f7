"""Which actors speak for a bot."""

from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import Event
from convoy.model.state import State


class BotStarted(Event, frozen=True, kw_only=True, tag="bot.started"):
    """The event's actor speaks for a bot from here on."""

    version: str

    def sentence(self) -> str:
        return f"A bot started, version {self.version}."

    def change(self, state: State) -> State:
        return state  # the fold, which knows the event's actor, adds the bot


class StartBot(Command, frozen=True, kw_only=True):
    """Let this actor speak for a bot."""

    actor: str
    version: str

    def decide(self, state: State) -> Decision:
        """Let an actor speak for a bot, once."""
        if self.actor in state.bots:
            return Refusal(f"actor {self.actor} is a bot already")
        return (BotStarted(version=self.version),)
