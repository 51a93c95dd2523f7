"""Edits as text, for a CLI that offers no tools: aider's search/replace blocks.

https://aider.chat/docs/more/edit-formats.html
"""

from typing import Final

from brat.demo.vendor.conversation import Asked
from brat.demo.vendor.script import Case, Write

_FORMAT: Final = "<<<<<<< SEARCH"


def reply(case: Case, asked: Asked) -> str | None:
    """Return all edits of the case as one text; None: not asked for, or done before."""
    writes = [step for step in case.steps if isinstance(step, Write)]
    if not writes or _FORMAT not in asked.text:
        return None
    blocks = [_block(step) for step in writes]
    return None if blocks[0] in asked.said else "\n\n".join([*blocks, case.closing])


def _block(step: Write) -> str:
    new = step.content if step.content.endswith("\n") else f"{step.content}\n"
    edit = f"{_FORMAT}\n{step.replaces}=======\n{new}>>>>>>> REPLACE"
    return f"{step.path}\n```\n{edit}\n```"
