"""The image where agents work: whether one is named, and by its digest."""

import re
from typing import Final

from bot.forge.rest import Rest
from brat.setup.step import Look, for_a_person, wanted
from brat.setup.variable import Variable

CONTAINER: Final = "BRAT_CONTAINER"
_PINNED: Final = re.compile(r"[a-z0-9][\w.:/-]*@sha256:[0-9a-f]{64}", re.ASCII)


def planned(image: str, engine: str) -> Look:
    """Return what is owed of the image.

    Args:
        image: what the variable names; empty: nothing.
        engine: the type of agent whose program the image is to hold; empty: none that
            brat knows of.
    """
    if _PINNED.fullmatch(image):
        return wanted(f"agents work in {image.partition('@')[0]}, named by its digest")
    if image:
        return for_a_person(
            f"name the image in {CONTAINER} by its digest, as NAME@sha256:...: what "
            f"{image} means may change from one task to the next"
        )
    if not engine:
        return wanted("agents work on the job's own machine")
    return for_a_person(
        f"name an image with {engine} by its digest in the variable {CONTAINER} "
        f"(docker build --target runner-{engine} makes one), or install it in "
        ".brat/setup.sh"
    )


class ContainerStep:
    """Reads the variable; people build and push the image."""

    by_hand = f"name an image by its digest in the variable {CONTAINER}"

    def __init__(self, rest: Rest, repository: str, engine: str) -> None:
        """Send nothing yet; `engine` as of `planned`."""
        self._variable, self._engine = Variable(rest, repository, CONTAINER), engine

    async def look(self) -> Look:
        """Look at what the variable names."""
        return planned(await self._variable.value(), self._engine)

    async def do(self) -> None:
        """Change nothing."""
