"""Which comments and reviews were sent by mail: only GraphQL tells it.

https://docs.github.com/graphql/reference/interfaces#comment
"""

from dataclasses import dataclass
from pathlib import Path

from tests.world.github_forge.graphql_viewer import Viewer


class MailedTexts:
    """Marks beside a forge, so that a test can set them while it is served."""

    def __init__(self, forge: Path) -> None:
        """Keep them in a forge's folder."""
        self._folder = forge / "mailed"

    def mark(self, number: int) -> None:
        """Say that the comment or review with this id came by mail."""
        self._folder.mkdir(exist_ok=True)
        (self._folder / str(number)).touch()

    def holds(self, number: int) -> bool:
        """Whether it came by mail."""
        return (self._folder / str(number)).exists()


@dataclass(frozen=True)
class TextNode:
    """A comment, or a review."""

    viewer: Viewer
    number: int
    kind: str
    id: str
    body: str

    def created_via_email(self) -> bool:
        """Return whether it came by mail."""
        forge = self.viewer.service.forge
        return MailedTexts(forge.folder).holds(self.number)
