"""What happens to a whole repository."""

from convoy.events.parts import Fact


class BotStarted(Fact, frozen=True, kw_only=True, tag="bot.started"):
    """The event's actor speaks for a bot from here on."""

    version: str


class RepositoryPaused(Fact, frozen=True, kw_only=True, tag="repository.paused"):
    """A person stops everything: nothing new starts or is accepted."""

    by: str


class RepositoryResumed(Fact, frozen=True, kw_only=True, tag="repository.resumed"):
    """A person lets everything go on."""

    by: str
