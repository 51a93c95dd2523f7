"""Kills the process that imports this at an outside call that writes.

`$BRAT_DIES_AT` says at which, from 0, and `$BRAT_DIES_AFTER` whether the call still
takes effect. Only a Python that `deadly` prepared imports this, at its start.
"""

import os
import signal
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from bot.forge.rest import Rest
from grite import git
from tests.world.terminal import Terminal

READS: Final = {
    *("cat-file", "diff", "diff-tree", "for-each-ref", "log", "ls-remote", "ls-tree"),
    *("merge-base", "rev-list", "rev-parse", "show", "status", "version"),
}
_IMPORT: Final = (
    "import os; os.environ.get('BRAT_DIES_AT') and __import__('tests.world.dying')\n"
)


def deadly(terminal: Terminal) -> Terminal:
    """Let `brat`, typed in an extended terminal, die where its environment says so."""
    (site,) = (terminal.home / "venv/lib").glob("*/site-packages")
    with (site / "ours.pth").open("a") as file:
        file.write(_IMPORT)
    return terminal


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it is dead")


def _watch(at: int, *, after: bool) -> None:
    run, answer = git.run, Rest._answer  # noqa: SLF001  every call goes through these
    left = [at]

    def is_last(writes: bool) -> bool:  # noqa: FBT001  see below
        left[0] -= writes
        return writes and left[0] < 0

    def dying_run(args: Sequence[str], **given: Any) -> git.Completed:  # noqa: ANN401
        words = [word for word in args if not word.startswith("-") and "=" not in word]
        dies = is_last(not READS.intersection(words[:1]))
        if dies and not after:
            _die()
        done = run(args, **given)
        return _die() if dies else done

    async def dying_answer(
        rest: Rest, method: str, url: str, body: object = None, *, list_url: str = ""
    ) -> tuple[object, str | None]:
        dies = is_last(method != "GET")
        if dies and not after:
            _die()
        done = await answer(rest, method, url, body, list_url=list_url)
        return _die() if dies else done

    git.run, Rest._answer = dying_run, dying_answer  # type: ignore[assignment,method-assign]  # noqa: SLF001


if "BRAT_DIES_AT" in os.environ:
    _watch(
        int(os.environ.pop("BRAT_DIES_AT")),
        after=os.environ.pop("BRAT_DIES_AFTER", "") == "1",
    )
