"""The plan that the pictures show, of any size, and what befalls some of its tasks."""

from hashlib import sha1
from typing import Final

from convoy.model.records import EngineSpec, TaskSpec

RED: Final = 7
"""In a convoy of that many: its work is red, each time, and waits for a person."""
REFUSED: Final = 6
"""Its agent gives up, each time, and a person said once that it tries again."""
FLAKY: Final = 5
"""CI finds its work red and then green."""
LOST: Final = 4
"""The machine of its first session died."""
_TYPES: Final = {"default": "claude-code", "tests": "codex", "docs": "aider"}
ENGINES: Final = {
    name: EngineSpec(type=each, max_sessions=64) for name, each in _TYPES.items()
}
_VERBS: Final = (
    *("Store", "Verify", "Rotate", "List", "Revoke", "Name", "Export", "Limit"),
    *("Audit", "Translate", "Test", "Document", "Rename", "Move", "Show"),
)
_THINGS: Final = (
    *("passkeys beside passwords", "the challenge on each attempt"),
    *("recovery codes when one is used", "all devices of an account"),
    *("a lost device from the settings page", "the relying party by its domain"),
    *("attempts by address and account", "who registered which key, and when"),
    *("the messages of the sign-in form", "what old browsers answer"),
    *("the session that follows a sign-in",),
)


_BILLING: Final = (
    *("invoices by month and customer", "the tax of each country", "refunds as lines"),
    *("rows with a comma or a quote", "what accountants import", "a file of any size"),
    "the numbers of cancelled invoices",
)


def title(number: int, folder: str = "") -> str:
    """Return the title of a task, another one for each of a hundred."""
    things = _BILLING if folder else _THINGS
    return f"{_VERBS[number % len(_VERBS)]} {things[number % len(things)]}"


def spec(number: int, folder: str = "") -> TaskSpec:
    """Return a task of the plan, whose files are in a folder."""
    after = tuple(n for n in (number - 3, number - 7) if n > 0)
    after = after if number % 3 == 0 and number not in (RED, REFUSED) else ()
    area = ("src/auth/", "tests/", "docs/")[number % 3]
    what = title(number, folder)
    return TaskSpec(
        number=number,
        title=what,
        instructions=f"{what}.\n\nKeep the public functions as they are.",
        after=after,
        paths=(f"{folder}{area}part_{number}.py",),
        engine=("default", "default", "tests", "docs")[number % 4],
        acceptance=f"pytest -q tests/test_part_{number}.py" if number % 2 else "",
    )


def commit(*words: object) -> str:
    """Return a made-up commit id."""
    return sha1(repr(words).encode(), usedforsecurity=False).hexdigest()
