"""`brat diff`: what a task or a convoy changes. `brat pull` takes in what landed.

A program gets the patch as git writes it. A person sees it in a pager, with colours;
the lines are an agent's, so no control character of theirs reaches the terminal.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import in_its_way, landed_commands
from brat.repository.log_reader import Reader, log_repository
from brat.status.find_task import live_or_named, task_in
from brat.terminal.console import out, say
from convoy.model.state import Convoy
from convoy.text import clean
from grite import git
from grite.errors import BratError

_SHOWN: Final = ("diff", "--no-ext-diff", "--no-textconv", "--no-color")


def diff(repo: Path, about: str | None, convoy: str | None, *, stat: bool) -> None:
    """Print the changes of a task's number or a convoy's name.

    None is the live convoy, or the last.
    """
    log = log_repository(repo)
    state, number = Reader(log).read(), (about or "").removeprefix("task-")
    if number.isdecimal():
        ends = _of_task(live_or_named(state, convoy), int(number))
    else:
        ends = _of_convoy(live_or_named(state, convoy if about is None else about))
    patch = _patch(log, *ends, "--stat=100" if stat else "--patch")
    if not out.is_terminal:
        sys.stdout.buffer.write(patch)
        return
    from rich.syntax import Syntax  # slow to load

    # As git does for its pager: https://git-scm.com/docs/git-config, core.pager.
    os.environ.setdefault("LESS", "FRX")  # noqa: TID251  as above
    with out.pager(styles=True):
        lines = patch.decode(errors="replace").split("\n")
        shown = "\n".join(clean(line.rstrip("\r")) for line in lines)
        colours = Syntax("", "diff", theme="ansi_light")
        out.print(colours.highlight(shown), soft_wrap=True)


def summary(log: Path, convoy: Convoy) -> str:
    """Return how many files and lines of a convoy have changed; empty: none."""
    try:
        patch = _patch(log, *_of_convoy(convoy), "--shortstat")
    except BratError:
        return ""
    return patch.decode().strip()


def _of_task(convoy: Convoy, number: int) -> tuple[str, str]:
    task = task_in(convoy, number)
    if task.changed is not None:
        return task.changed
    if task.state == "merged":
        because = f": {task.why}" if task.why else ""
        raise BratError(f"task {task.number} needed no changes{because}")
    raise BratError(
        f"task {task.number} of {convoy.name} is {task.state} and has no work yet; "
        f"see: brat why {task.number}"
    )


def _of_convoy(convoy: Convoy) -> tuple[str, str]:
    if convoy.changed is None:
        raise BratError(f"nothing has been merged into the branch of {convoy.name} yet")
    return convoy.changed


def _patch(log: Path, base: str, commit: str, how: str) -> bytes:
    done = git.run([*_SHOWN, how, base, commit, "--"], cwd=log, check=False)
    if done.status:
        raise BratError(
            f"{commit[:10]} is missing or incomplete here: fetch it with git fetch "
            "origin 'refs/heads/*:refs/remotes/origin/*'"
        )
    return done.stdout


def pull(repo: Path) -> int:
    """Bring what landed into the checkout, as the person's own git does; its status."""
    checkout = checkouts.find(repo)
    known = registrations.known(checkout.folder)
    if known is None:
        raise BratError(
            f"brat has not run in {checkout.top}; to get other people's work: git pull"
        )
    if not checkouts.branches_apart(checkout, known).landed:
        state = Reader(log_repository(repo)).read()
        rest = ", ".join(each.name for each in state.live() if each.changed)
        more = f"; finished tasks of {rest} land with the rest of it" if rest else ""
        say(f"{known.branch} already has everything that landed{more}")
        return 0
    if changed := in_its_way(checkout, known):
        ways = checkouts.mending(checkout, changed)
        raise BratError(f"first {ways}: {changed[0]}")
    for command in landed_commands(checkout, known):
        say(f"$ {shlex.join(command)}")
        if status := subprocess.run(command, cwd=checkout.top, check=False).returncode:
            return status
    return 0
