"""What a person does on the forge between two commands: close things, open them again.

Nothing tells a bot of it: nothing is running.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from brat.repository.forge_files import forge_in_use
from tests.world.extended import forge_folder
from tests.world.local_rules import ask, at_rest
from tests.world.staying import until
from tests.world.terminal import Terminal

CLOSED: Final = "state=closed&per_page=100"
OPEN: Final = {"state": "open"}


def close_something(terminal: Terminal, random: Random) -> str:
    """Close an open issue or pull request; return which, or nothing."""
    home = forge_folder(terminal).parent
    until(
        lambda: not forge_in_use(home)
    )  # the forge of a command that was killed ends soon
    with at_rest(terminal) as forge, forge.store.change():
        found = [one for one in forge.store.issues.all() if one.state == "open"]
        if not found:
            return ""
        one, now = random.choice(found), forge.now()
        forge.store.issues.put(
            replace(one, state="closed", closed_at=now, updated_at=now)
        )
    return f"close #{one.number}"


def open_again(terminal: Terminal, over: Callable[[], set[int]]) -> None:
    """Open what is closed, while the forge is served.

    Args:
        terminal: where brat is typed.
        over: returns the issues that brat itself has closed, or will.
    """
    for pull in ask(terminal, "GET", f"pulls?{CLOSED}"):
        if pull["merged_at"] is None:
            ask(terminal, "PATCH", f"pulls/{pull['number']}", OPEN)
    listed = ask(terminal, "GET", f"issues?{CLOSED}")
    closed = {one["number"] for one in listed if "pull_request" not in one}
    for number in closed - (over() if closed else set()):
        ask(terminal, "PATCH", f"issues/{number}", OPEN)
