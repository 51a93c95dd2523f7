"""The key that signs the log, and the variable that tells jobs whose word counts.

The private half is made here, sealed for the forge, and kept nowhere else.
"""

from http import HTTPStatus
from typing import Final

from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest
from bot.serving.repository_checks import text_at
from bot.settings import bot_folder
from brat.setup import sealed_box
from brat.setup.environment_step import NAME as ENVIRONMENT, EnvironmentStep
from brat.setup.step import Look, for_a_person, owed, wanted
from brat.setup.variable import Variable
from grite.errors import BratError
from grite.signatures import SIGNERS_FILE, parse_signers

SECRET: Final = "BRAT_LOG_KEY"  # noqa: S105  a name
SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"


class _Secret(Payload):
    name: str


def planned(told: str, *, has_secret: bool, has_file: bool) -> Look:
    """Return what is owed of the key.

    Args:
        told: the variable with the keys that may sign; empty: there is none.
        has_secret: whether the private half is stored.
        has_file: whether the default branch has a file of allowed signers.
    """
    try:
        parse_signers(told)
    except BratError as error:
        return for_a_person(f"mend the variable {SIGNERS}: {error}")
    if not has_secret:
        return owed(
            f"make the key that signs the log: the secret {SECRET} of the environment "
            f"{ENVIRONMENT}, and its public half in the variable {SIGNERS}"
        )
    if told or has_file:
        return wanted(f"the secret {SECRET} is there, and jobs know who may sign")
    return for_a_person(
        f"tell jobs who may sign: set the variable {SIGNERS} to the public half of "
        f"{SECRET}, or remove that secret and try again to have a new key made"
    )


class LogKeyStep:
    """Makes the key; one that is there stays."""

    by_hand = (
        'ssh-keygen -t ed25519 -N "" -C brat -f log_key; store log_key as the secret '
        f"{SECRET} of the environment {ENVIRONMENT}, and in the variable {SIGNERS} a "
        "line: brat and the text of log_key.pub (an administrator may)"
    )

    def __init__(
        self, rest: Rest, repository: str, environment: EnvironmentStep
    ) -> None:
        """Send nothing yet; `environment` is what keeps other branches out."""
        self._rest, self._repository = rest, repository
        self._environment = environment
        self._secrets = f"/repos/{repository}/environments/{ENVIRONMENT}/secrets"
        self._signers = Variable(rest, repository, SIGNERS)

    async def look(self) -> Look:
        """Look for both halves."""
        return planned(
            await self._signers.value(),
            has_secret=SECRET in await self._names(),
            has_file=await text_at(self._rest, self._repository, SIGNERS_FILE)
            is not None,
        )

    async def do(self) -> None:
        """Make a key; its public half comes first, and lines that are there stay.

        Raises:
            BratError: other branches could read the secret.
        """
        if (guard := await self._environment.look()).state != "wanted":
            raise BratError(f"other branches could read it; first {guard.said}")
        pair = bot_folder.new_log_key()
        lines = [*(await self._signers.value()).splitlines(), pair.line.strip()]
        await self._signers.put("\n".join(lines))
        await sealed_box.store(self._rest, self._secrets, SECRET, pair.private)

    async def _names(self) -> frozenset[str]:
        """Return the names of the environment's secrets; it may not be there yet."""
        listed = self._rest.each(_Secret, f"{self._secrets}?per_page=100", "secrets")
        try:
            return frozenset([each.name async for each in listed])
        except Refused as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            return frozenset()
