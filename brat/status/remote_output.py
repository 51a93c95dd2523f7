"""The output of sessions, read from a bot elsewhere over its live feed."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx
import pygit2

from bot.door.session_access import FEED_PATH
from bot.forge.transport import client_of
from brat.status.task_output import LAST_BYTES, shown
from convoy.model import ids
from convoy.model.state import Convoy, Task
from grite import outbound
from grite.errors import BratError, Unavailable

TOKEN: Final = "BRAT_FEED_TOKEN"  # noqa: S105  the variable's name
WAIT_S: Final = 20.0
DEADLINE_S: Final = 10.0
_REPOSITORY: Final = re.compile(r"([\w.-]+/[\w.-]+?)(?:\.git)?/?$")


@dataclass(frozen=True)
class RemoteOutput:
    """One repository's feed at a bot."""

    url: str
    """The address of the repository's feed, without a slash at the end."""
    token: str = field(repr=False)

    @classmethod
    def of(cls, bot: str, clone: Path) -> Self:
        """Return the feed of the repository that `clone` is a clone of.

        Raises:
            BratError: the address is not valid, the clone's origin names no repository,
                or there is no token.
        """
        parts = urlsplit(bot)
        near = parts.scheme == "http" and outbound.is_local(parts.hostname or "")
        if not parts.hostname or not (near or parts.scheme == "https"):
            raise BratError(
                f"{bot} is no bot's address: give https://HOST, or http://localhost:PORT"
            )
        token = os.environ.get(TOKEN, "")  # noqa: TID251  a person's own terminal
        if not token:
            raise BratError(f"set {TOKEN} to the bot's feed_token")
        repository = pygit2.Repository(str(clone))
        names = [remote.name for remote in repository.remotes]
        url = repository.remotes["origin"].url if "origin" in names else ""
        found = _REPOSITORY.search(url or "")
        if found is None:
            raise BratError(f"{clone} has no remote origin that names a repository")
        return cls(f"{bot.rstrip('/')}{FEED_PATH}/{found[1]}", token)

    def last(self, convoy: Convoy, task: Task) -> str:
        """Return the end of the output of a task's newest session so far.

        Raises:
            BratError: the bot does not show it.
        """
        return self.last_of(_session(convoy, task))

    def last_of(self, session: str) -> str:
        """Return the end of one session's output so far; raises as `last` does."""
        with client_of(self.url, DEADLINE_S) as client:
            said = _text(self._ask(client, session, -1, 0))
        return shown(said[-LAST_BYTES:])

    def follow(self, convoy: Convoy, task: Task) -> Iterator[str]:
        """Yield a session's output until the session has ended.

        Raises:
            BratError: the bot does not show the output, or no longer does.
        """
        session, number, running = _session(convoy, task), -1, True
        with client_of(self.url, WAIT_S + DEADLINE_S) as client:
            while running:
                told = self._ask(client, session, number, WAIT_S)
                if text := _text(told):
                    yield shown(text)
                number, running = int(told["next"]) - 1, bool(told["running"])

    def _ask(
        self, client: httpx.Client, session: str, number: int, wait_s: float
    ) -> Mapping[str, Any]:
        try:
            answer = client.get(
                f"{self.url}/{session}/output",
                params={"after": number, "wait_s": wait_s},
                headers={"Authorization": f"Bearer {self.token}"},
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"the bot does not answer: {error!r}") from error
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return {"pieces": [], "next": 0, "running": False}
        if answer.status_code != HTTPStatus.OK:
            said = answer.text[:200].strip()
            raise BratError(f"the bot does not show it: {answer.status_code} {said}")
        told = answer.json()
        assert isinstance(told, dict)  # noqa: S101  our own bot answers so
        return told


def _session(convoy: Convoy, task: Task) -> str:
    return ids.session_name(convoy.name, task.number, task.started)


def _text(told: Mapping[str, Any]) -> str:
    return "".join(str(piece["text"]) for piece in told["pieces"])
