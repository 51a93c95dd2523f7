"""Which repository a name stands for: the forge's id, which no rename changes.

A name that a rename or a transfer freed may be taken by another repository, even a
public one. What a bot knows belongs to an id, so the id behind the name is asked for
again before anything is written that the other repository could take.
https://docs.github.com/repositories/creating-and-managing-repositories/renaming-a-repository
"""

from dataclasses import dataclass

from bot.forge.github import GitHub
from bot.forge.precedence import Precedence, going
from grite.errors import BratError, Unavailable


class AnotherRepository(BratError):
    """The name now stands for another repository than the one that is served."""


@dataclass(frozen=True, kw_only=True)
class RepositoryIdentity:
    """The repository that a bot serves, whatever its name is."""

    github: GitHub
    number: int
    """The forge's id of the repository."""

    async def confirm(self) -> None:
        """Ask the forge whether the name still stands for this repository.

        Raises:
            AnotherRepository: it stands for another one; nothing may be written there.
            Unavailable: the forge did not answer.
            Refused: the forge does not show the repository.
        """
        with going(Precedence.ANSWER):  # no answer leaves before it is known
            found = await number_of(self.github)
        if found != self.number:
            raise AnotherRepository(
                f"{self.github.repository} is another repository now (id {found}, not "
                f"{self.number}): nothing is written there; name the repository that "
                "is to be served, and give another one a folder of its own"
            )


async def number_of(github: GitHub) -> int:
    """Return the forge's id of the repository that a name stands for now.

    Raises:
        Unavailable: the forge did not answer, or gave no id.
        Refused: the forge does not show the repository.
    """
    name, number = await github.named()
    if number <= 0:
        raise Unavailable(f"GET /repos/{name}: not what GitHub answers: no id")
    return number
