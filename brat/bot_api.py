"""A bot elsewhere, asked over its dashboard's interface to do what a person decides.

Where it is, is for the person alone to say: by `--bot`, in the environment, or in git's
own configuration. A repository's files could be anybody's, and would get the token.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx
import pygit2

from bot.deeds import Deed
from brat.elsewhere import LOOPBACK, origin_of
from convoy.text.plaintext import clean
from grite.errors import BratError, Unavailable

ADDRESS: Final = "BRAT_BOT_URL"
TOKEN: Final = "BRAT_API_TOKEN"  # noqa: S105  the variable's name
SETTING: Final = "brat.bot"
ROOT: Final = "/api/v1"
DEADLINE_S: Final = 30.0
ANSWER_CHARS: Final = 300
_ENDED: Final = frozenset({"complete", "failed"})


def named(given: str | None, path: Path) -> str | None:
    """Return the bot that the person named for this repository; None: they named none.

    Args:
        given: the option.
        path: a folder of the repository.
    """
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
    """One repository at a bot."""

    bot: str
    """As the person named it."""
    url: str
    """Of the repository's interface."""
    token: str = field(repr=False)

    @classmethod
    def of(cls, bot: str, path: Path) -> Self:
        """Return the interface for the repository that `path` lies in.

        A dashboard on this machine is of one repository; a hosted one, which always
        has TLS before it, has each below its name.

        Raises:
            BratError: the address is none, or there is no token.
        """
        parts, plain = urlsplit(bot), bot.rstrip("/")
        here = parts.scheme == "http" and parts.hostname in LOOPBACK
        if not parts.hostname or not (here or parts.scheme == "https"):
            raise BratError(
                f"{bot} is no bot's address: give https://HOST, or http://localhost:PORT"
            )
        token = os.environ.get(TOKEN, "")  # noqa: TID251  a person's own terminal
        if not token:
            raise BratError(f"set {TOKEN} to a token that the bot at {bot} knows")
        found = None if here else pygit2.discover_repository(str(path))
        if not here and found is None:
            raise BratError(f"{path} is not in a git repository: give --repo")
        name = f"/{origin_of(Path(found)).repository}" if found else ""
        return cls(plain, f"{plain}{name}{ROOT}", token)

    def meant(self, convoy: str | None) -> str:
        """Return the convoy's name; without one, that of the only one not ended.

        Raises:
            BratError: there is none, or several, or the bot says no.
        """
        if convoy is not None:
            return convoy
        told = self._asked("GET", "/convoys").get("convoys", ())
        live = [str(each["name"]) for each in told if each["state"] not in _ENDED]
        if len(live) > 1:
            which = ", ".join(live)
            raise BratError(f"say which convoy with --convoy; not ended are: {which}")
        if not told:
            raise BratError(f"the bot at {self.bot} has no convoy here yet")
        return live[0] if live else str(told[-1]["name"])

    def decide(self, convoy: str, deed: Deed) -> str:
        """Have it done; return why the rules refuse it, empty: it is done.

        Raises:
            BratError: the bot says no, or does not answer.
        """
        about = f"/tasks/{deed.task}" if deed.task else ""
        body = {"text": deed.text} if deed.text else {}
        path = f"/convoys/{convoy}{about}/{deed.verb}"
        return str(self._asked("POST", path, body).get("refused", ""))

    def _asked(
        self, method: str, path: str, body: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        shows = {"Authorization": f"Bearer {self.token}"}
        secure = httpx.create_ssl_context()  # its own authorities, or SSL_CERT_FILE's
        try:
            with httpx.Client(
                trust_env=False, timeout=DEADLINE_S, verify=secure
            ) as client:
                answer = client.request(
                    method, f"{self.url}{path}", headers=shows, json=body
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(
                f"the bot at {self.bot} does not answer ({error!r}); what was asked "
                "may have been done: look, or ask again"
            ) from error
        told = _read(answer)
        if answer.status_code == HTTPStatus.OK:
            return told
        said = clean(str(told.get("error", "")))[:ANSWER_CHARS].strip()
        if answer.status_code == HTTPStatus.CONFLICT and said:
            return {"refused": said}
        why = said or "is this the address of its dashboard?"
        raise BratError(f"the bot at {self.bot} says no ({answer.status_code}): {why}")


def _read(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        told = answer.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
