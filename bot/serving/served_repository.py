"""One repository of a service: what it is called now, and what keeps its state."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot import wall_clock
from bot.door.inbox import Inbox, Wake
from bot.door.webhooks import DeliveryPlace
from bot.forge import transport
from bot.forge.github import GitHub, repository_id_of
from bot.forge.pace import Pace
from bot.forge.transport import DEADLINE_S
from bot.loop.loop import Loop
from bot.serving.standing_still import Standstill
from bot.settings.bot_settings import HOUR_MS, ServiceSettings, Settings
from grite.errors import BratError


@dataclass(kw_only=True)
class Served:
    """One repository of the service."""

    name: str
    """Its full name now."""
    installation: int | None
    """Of the App; None: there is no App."""
    number: int
    """The forge's id of the repository; 0: not known yet."""
    hosting: ServiceSettings
    pace: Pace
    wake: Wake = field(default_factory=Wake)
    settings: Settings | None = None
    """None: its id is not known yet."""
    place: DeliveryPlace | None = None
    """Where its deliveries go; None: its id is not known yet."""
    standstill: Standstill = field(default_factory=lambda: Standstill(clock=wall_clock))
    loop: Loop | None = None
    """None: the loop is not open."""
    trouble: str = ""
    """Why the loop could not run."""
    fault: str = ""
    """The last trouble that was a fault of ours, whose place was logged."""

    def settle(self, number: int) -> Settings:
        """Open the folder of the repository with this id; safe to call again.

        Raises:
            OSError: the folder cannot be made.
        """
        if self.settings is not None and self.settings.repository_id == number:
            return self.settings
        settings = self.hosting.of(self.name, self.installation, number)
        # An App's account is known; another's is asked for when the loop is opened.
        self.place = DeliveryPlace(
            label=settings.label,
            login=f"{settings.app}[bot]",
            inbox=Inbox(settings.folder / "inbox"),
            wake=self.wake,
            repository_id=number,
        )
        self.settings = settings
        return settings

    async def identified(self) -> Settings:
        """Return the settings for the repository that the name stands for.

        With an App, the list of its installations says which that is; with a token, the
        forge is asked each time.

        Raises:
            Unavailable: the forge did not answer.
            Refused: the forge does not show the repository.
            BratError: its folder cannot be made.
        """
        number = self.number
        if not number:
            async with transport.async_client(DEADLINE_S) as client:
                github = GitHub(
                    client,
                    api_url=self.hosting.api_url,
                    repository=self.name,
                    token=self.hosting.token,
                    pace=self.pace,
                )
                number = await repository_id_of(github)
        try:
            return await asyncio.to_thread(self.settle, number)
        except OSError as error:
            raise BratError(f"its folder cannot be made: {error}") from error


def starts_beside(one: Served, served: Mapping[str, Served]) -> Iterator[int]:
    """Give the start times of convoys in the installation's other repositories."""
    after = wall_clock() - HOUR_MS
    for other in served.values():
        if other is not one and other.pace is one.pace and other.loop is not None:
            for _, known in other.loop.context.mirror.state.convoys.summaries():
                if known.requested_at > after:
                    yield known.requested_at
