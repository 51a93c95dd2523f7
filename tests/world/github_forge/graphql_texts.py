"""What GraphQL shows of comments and reviews.

https://docs.github.com/graphql/reference/interfaces#comment
"""

from dataclasses import dataclass

from tests.world.github_forge.graphql_viewer import Viewer
from tests.world.github_forge.mailed_texts import MailedTexts


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
