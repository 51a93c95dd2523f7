"""Edits as text, for a CLI that offers no tools: aider's search/replace blocks.

https://aider.chat/docs/more/edit-formats.html
"""

from collections.abc import Iterator
from typing import Final

from tests.world.vendor.conversation import Asked
from tests.world.vendor.script import Case, Insist, Patch, Run, Step, Write

_FORMAT: Final = "<<<<<<< SEARCH"
_GONE: Final = "# gone\n"
"""Aider neither removes a file nor empties it."""
_READ_NOW: Final = "I added these files to the chat:"


def reply(case: Case, asked: Asked) -> str | None:
    """Return all edits of the case as one text; None: not wanted, or made already."""
    blocks = [block for step in case.steps for block in _blocks(step)]
    if not blocks or _FORMAT not in asked.text:
        return None
    # Aider makes no edits of files that it has not read: it reads them and asks again.
    if asked.said.count(blocks[0]) > asked.text.count(_READ_NOW):
        return None
    return "\n\n".join([*blocks, case.closing])


def _blocks(step: Step) -> Iterator[str]:
    match step:
        case Write():
            yield _block(step.path, "", step.content)
        case Patch():
            yield from _of_diff(step.diff)
        case Run() | Insist():
            return


def _of_diff(diff: str) -> Iterator[str]:
    """Turn each hunk into a block; a removed file keeps one line."""
    for file in f"\n{diff}".split("\n--- a/")[1:]:
        header, *hunks = file.split("\n@@ ")
        path = header.partition("\n")[0]
        for hunk in hunks:
            lines = hunk.splitlines(keepends=True)[1:]
            yield _block(path, _side(lines, "-"), _side(lines, "+") or _GONE)


def _side(lines: list[str], sign: str) -> str:
    return "".join(line[1:] for line in lines if line[0] in (" ", sign))


def _block(path: str, old: str, new: str) -> str:
    edit = f"{_FORMAT}\n{_ended(old)}=======\n{_ended(new)}>>>>>>> REPLACE"
    return f"{path}\n```\n{edit}\n```"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
