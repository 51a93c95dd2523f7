"""What is set aside: why, what would help, and when it is tried again. Pure.

An *item* is what is handled alone: a convoy, a task, an announced action, a
delivery, an issue, a run, a check. Its name says which: `task/fix/3`.
"""

import re
from typing import Final

from msgspec import Struct

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
CONVOY: Final = "convoy/"
TASK: Final = "task/"
DELIVERY: Final = "delivery/"

FOR_EVER: Final = frozenset({"gone", "moved"})
"""The rules of refusals that hardly any later try changes."""
GIVEN_UP: Final = 6
"""After how many tries what is gone for ever is left alone: about an hour."""


class SetAside(Struct, frozen=True, kw_only=True):
    """An item that is not tried for now."""

    why: str
    """One sentence: what was refused, and what was said."""
    rule: str = ""
    """Which kind of refusal it is, such as `secret-found`; empty: a fault."""
    helps: str = ""
    """What a person can do about it; may be empty."""
    passing: bool = False
    """Whether it may well go away by itself: nobody is called for it."""
    at: int
    """When it was last tried, unix ms."""
    tries: int = 1
    """How often it was tried in vain."""
    again: bool = False
    """Whether it is being tried again: then nothing keeps it back."""

    @property
    def is_given_up(self) -> bool:
        """Whether it was refused often enough by what is gone for ever."""
        return self.rule in FOR_EVER and self.tries >= GIVEN_UP

    @property
    def due(self) -> int:
        """When it is tried again by itself, unix ms: each wait is twice the last."""
        return self.at + min(MINUTE_MS << min(self.tries - 1, 6), HOUR_MS)


def convoy_item(convoy: str) -> str:
    """Return the name of a convoy as an item."""
    return f"{CONVOY}{convoy}"


def part_item(convoy: str) -> str:
    """Return the name of the landing of what is finished of a convoy, as an item."""
    return f"part/{convoy}"


def task_item(convoy: str, task: int) -> str:
    """Return the name of a task as an item; task 0 is the convoy."""
    return f"{TASK}{convoy}/{task}" if task else convoy_item(convoy)


def action_item(key: str) -> str:
    """Return the name of an announced action as an item."""
    return f"action/{key}"


def show_item(convoy: str, part: str) -> str:
    """Return the name of a part of what people are shown of a convoy, as an item."""
    return f"show/{convoy}/{part}"


def look_item(at: str, part: str = "") -> str:
    """Return the name of a look at the forge, as an item."""
    return f"look/{at}/{part}" if part else f"look/{at}"


def run_item(run: int) -> str:
    """Return the name of a workflow run as an item."""
    return f"run/{run}"


def pull_item(pull: int) -> str:
    """Return the name of a look at one pull request as an item."""
    return f"pull/{pull}"


def check_item(commit: str) -> str:
    """Return the name of CI's word on a commit as an item."""
    return f"check/{commit}"


def issue_item(issue: int) -> str:
    """Return the name of an issue, without a convoy, as an item."""
    return f"issue/{issue}"


def delivery_item(delivery: str) -> str:
    """Return the name of a delivery in the inbox as an item."""
    return f"{DELIVERY}{delivery}"


_NUMBER: Final = re.compile("[0-9]{1,9}")
LOG: Final = "log"
"""The item of what no other item needs: events, leases, checkpoints."""
SWEEP: Final = "sweep"
"""The item that is the deletion of branches nobody needs."""


def part_of(item: str) -> tuple[str, int] | None:
    """Return the convoy and task (0: the convoy) that an item is; None: neither.

    A log may hold any text as an item's name.
    """
    if item.startswith(CONVOY):
        return item.removeprefix(CONVOY), 0
    if item.startswith(TASK):
        convoy, _, task = item.removeprefix(TASK).rpartition("/")
        return (convoy, int(task)) if _NUMBER.fullmatch(task) else None
    return None


def another_try(aside: SetAside) -> str:
    """Return what an item that is set aside waits for."""
    return f"another try: {aside.why}"
