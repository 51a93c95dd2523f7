"""What a CI job's command said of its commit, as a check shows it."""

from typing import IO, Final

from brat.forge.resources.check_resource import Conclusion, Output
from brat.forge.resources.repository_resource import Ci

NAME: Final = "ci"
GONE: Final = Output(title=NAME, summary="Its branch is gone.")
TAIL_BYTES: Final = 8192
CANNOT_RUN: Final = {126: "it cannot be run", 127: "a program was not found"}
"""What a shell's exit status says of the command itself, not of what it judged.
https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
"""


def tail(log: IO[bytes]) -> str:
    """Return the last of what a command said."""
    size = log.seek(0, 2)
    log.seek(max(size - TAIL_BYTES, 0))
    return log.read().decode(errors="replace")


def verdict(status: int | None, settings: Ci, text: str) -> tuple[Conclusion, Output]:
    """Return what a check says.

    Args:
        status: the command's exit status; None: it took too long.
        settings: how it was run.
        text: the last of what it said.
    """
    if status == 0:
        said = f"`{settings.command}` passed."
        return "success", Output(title=NAME, summary=said, text=text)
    if status is None:
        said = f"`{settings.command}` took longer than {settings.timeout_s:g} s."
        return "timed_out", Output(title=NAME, summary=said, text=text)
    if why := CANNOT_RUN.get(status):
        last = text.strip().rpartition("\n")[2]
        said = f"`{settings.command}` ended with {status}, {why}: {last or 'no word'}"
        mend = "install what is missing, or set another [ci] command"
        return "action_required", Output(title=NAME, summary=f"{said}; {mend}.")
    said = f"`{settings.command}` ended with {status}."
    return "failure", Output(title=NAME, summary=said, text=text)
