"""A bot on another machine: what it tells, and what it carries out for a person.

It is asked by its dashboard's interface. Only the person names its address: by `--bot`,
in the environment, or in git's configuration. Anybody's commit could change a file, and
the token would be sent there.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self

import httpx
import pygit2

from bot.dashboard.access_policy import LOCAL_PREFIX
from bot.forge.transport import client_of
from bot.requests.verb import Request
from bot.requests.verb_table import endpoint_of
from brat.repository.registration import NO_REPOSITORY
from brat.repository.remote_forge import is_near, origin_of
from brat.status.find_task import only_one
from convoy.text import clean
from grite.errors import BratError, Unavailable

ADDRESS: Final = "BRAT_BOT_URL"
TOKEN: Final = "BRAT_API_TOKEN"  # noqa: S105  the variable's name
SETTING: Final = "brat.bot"
ROOT: Final = "/api/v1"
DEADLINE_S: Final = 30.0
LOOK_S: Final = 1.0
ANSWER_CHARS: Final = 300
KNOWN_CHARS: Final = 1000
"""So much of the end of an output tells what is new behind it."""
_ENDED: Final = frozenset({"complete", "failed", "cancelled"})


def named_bot(given: str | None, path: Path) -> str | None:
    """Return the bot that the person named for this repository, or None."""
    said = given or os.environ.get(ADDRESS)  # noqa: TID251  a person's own terminal
    found = pygit2.discover_repository(str(path))
    if said or found is None:
        return said or None
    try:
        return pygit2.Repository(found).config[SETTING]
    except KeyError:
        return None


@dataclass(frozen=True)
class BotApi:
    bot: str
    """The address as the person gave it."""
    url: str
    """The address of the repository's interface."""
    token: str = field(repr=False)

    @classmethod
    def of(cls, bot: str, path: Path) -> Self:
        """Return the interface for the repository that `path` lies in.

        A dashboard on this machine serves one repository. A hosted dashboard, which
        always has TLS before it, serves each repository below the repository's name.
        """
        here, plain = is_near(bot), bot.rstrip("/")
        token = os.environ.get(TOKEN, "")  # noqa: TID251  a person's own terminal
        if not token:
            raise BratError(f"set {TOKEN} to a token that the bot at {bot} accepts")
        if token.startswith(LOCAL_PREFIX) and not here:
            raise BratError(
                f"{TOKEN} holds the token of a dashboard on this machine, so it was "
                f"not sent to {bot}: set it to that bot's api_token"
            )
        found = None if here else pygit2.discover_repository(str(path))
        if not here and found is None:
            raise BratError(NO_REPOSITORY.format(path.resolve()))
        name = f"/{origin_of(Path(found)).repository}" if found else ""
        return cls(plain, f"{plain}{name}{ROOT}", token)

    def meant(self, convoy: str | None) -> str:
        """Return the convoy's name; None stands for the only one that has not ended."""
        if convoy is not None:
            return convoy
        told = self._asked("GET", "/convoys").get("convoys", ())
        names = {str(each["name"]): each["state"] for each in told}
        live = [name for name, state in names.items() if state not in _ENDED]
        none = f"the bot at {self.bot} has no convoys here yet"
        return only_one(live, [*names], none)

    def decide(self, convoy: str, request: Request) -> str:
        """Send the request; return why the rules refuse it, or "" once it is done."""
        task = request.arguments.get("task")
        about = f"/tasks/{task}" if task else ""
        body = {"text": request.text} if request.text else {}
        path = f"/convoys/{convoy}{about}/{endpoint_of(request).word}"
        return str(self._asked("POST", path, body).get("refused", ""))

    def last(self, convoy: str, task: int) -> str:
        """Return the end of what a task's newest session has printed so far."""
        path = f"/convoys/{convoy}/tasks/{task}/log"
        return clean(self._answer("GET", path).text)

    def follow(self, convoy: str, task: int) -> Iterator[str]:
        """Yield the same, then what is added to it, until the session has ended."""
        known, runs = "", True
        while runs:
            rows = self._asked("GET", "/sessions").get("sessions", ())
            runs = [convoy, task] in ([e["convoy"], e["task"]] for e in rows)
            now = self.last(convoy, task)
            if now.startswith(known):
                new = now[len(known) :]
            else:  # only the end of a long output is told, and the known end is in it
                *_, new = now.rpartition(known[-KNOWN_CHARS:])
            if new:
                yield new
            known = now
            if runs:
                time.sleep(LOOK_S)

    def _asked(
        self, method: str, path: str, body: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        answer = self._answer(method, path, body)
        told = _told(answer)
        if answer.status_code == HTTPStatus.CONFLICT:
            return {"refused": _why(told)}
        return told

    def _answer(
        self, method: str, path: str, body: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Return what the bot answers: what was asked, or that the rules refuse it."""
        shows = {"Authorization": f"Bearer {self.token}"}
        try:
            with client_of(self.url, DEADLINE_S) as client:
                answer = client.request(
                    method, f"{self.url}{path}", headers=shows, json=body
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(
                f"the bot at {self.bot} did not answer ({error!r}); the request "
                "may have worked: check before you try again"
            ) from error
        said, status = _why(_told(answer)), answer.status_code
        if status == HTTPStatus.OK or (status == HTTPStatus.CONFLICT and said):
            return answer
        why = said or "is this the dashboard's address?"
        raise BratError(f"the bot at {self.bot} refused the request ({status}): {why}")


def _told(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        told = answer.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _why(told: Mapping[str, Any]) -> str:
    return clean(str(told.get("error", "")))[:ANSWER_CHARS].strip()
