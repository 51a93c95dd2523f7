"""The reasons why a requested convoy does not start. Pure."""

from collections.abc import Iterable
from typing import Final

OUTSIDER: Final = (
    "The issue was written by somebody without write access, and in a public "
    "repository an agent is given no such text. Open an issue in your own words, or "
    "comment `/brat start -- what is to be done`; `outsiders = true` under `[trust]` "
    "in `.brat/config.toml` lets everybody's text in."
)
EDITED: Final = (
    "The issue was edited after it was labelled, or may have been: read it again, and "
    "set the label again."
)
EDITED_SINCE_SAID: Final = (
    "the issue was edited after the comment was written, or may have been: read it "
    "again, and say it again"
)
EDITED_COMMENT: Final = (
    "@{by} This comment was edited before it was read, so nothing was done: say it "
    "again in a new comment."
)
EMPTY_REPOSITORY: Final = (
    "The repository is empty: push a first commit, then set the label again."
)
NO_RIGHT: Final = (
    "@{by} may not start a convoy: it takes write access to this repository."
)
STOPPED: Final = "Whoever runs this bot has stopped it: set the label again later."
REST: Final = "`brat config check` says the rest of it."
NO_PLAN: Final = "This cannot be planned as it is written: {error}."
ASKED: Final = "The issue says too little to begin: what is missing is asked above."
BAD_CONFIGURATION: Final = "The configuration has a fault: {error}"


def asked_back(by: str, questions: Iterable[str]) -> str:
    """Return the questions to the author of an issue that says too little."""
    listed = "\n".join(f"{at}. {each}" for at, each in enumerate(questions, 1))
    return (
        f"@{by} This says too little for an agent to begin:\n\n{listed}\n\n"
        "Answer by `/brat start -- ` and your words, or write them into the issue and "
        "set the label again. `/brat start -- as it is` begins without."
    )
