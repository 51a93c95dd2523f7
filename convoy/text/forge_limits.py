"""How long the texts may be that a forge takes, and a text cut to that. Pure.

All are counted in characters. A forge refuses what is longer as a whole.
"""

from typing import Final

BODY_CHARS: Final = 65_536
"""Of an issue, a pull request or a comment. GitHub answers a longer one with 422: "body
is too long (maximum is 65536 characters)"."""
POST_CHARS: Final = 64_000
"""The longest such text that a bot makes; the rest is room for a marker."""
SUMMARY_CHARS: Final = 65_535
"""Of a check run. https://docs.github.com/rest/checks/runs#create-a-check-run"""
TITLE_CHARS: Final = 256
"""Of an issue or a pull request: "title is too long (maximum is 256 characters)"."""
STATUS_CHARS: Final = 140
"""Of a commit status's description, by the same kind of answer."""
LABEL_CHARS: Final = 50
"""Of a label's name: "name is too long (maximum is 50 characters)". A description may
have 100: https://docs.github.com/rest/issues/labels#create-a-label"""
_FENCE: Final = "```"


def posted(text: str, rest: str, room: int = POST_CHARS) -> str:
    """Return a text that a forge takes, cut between lines.

    Args:
        text: Markdown.
        rest: the line that stands for what is left out, and says where that is.
        room: the most characters.
    """
    if len(text) <= room:
        return text
    left, kept = room - len(rest) - len(_FENCE) - 4, list[str]()
    for line in text.split("\n"):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    is_open = sum(line.lstrip().startswith(_FENCE) for line in kept) % 2
    return "\n".join((*kept, *[_FENCE] * is_open, "", rest))
