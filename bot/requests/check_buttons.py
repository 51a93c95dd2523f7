"""The buttons on a convoy's checks, and the request that each makes. Pure.

Pressing one makes the same request as a command, and needs the same right.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from bot.forge.checks import Button, CheckView
from bot.text import pull_request_texts
from bot.verbs.verb import Request
from bot.verbs.verb_table import BY_NAME, VERBS
from convoy.model import ids
from convoy.model.state import Convoy, Task


def views(convoy: Convoy, page: str) -> Iterator[CheckView]:
    """Give every check that a convoy should have, with its buttons.

    Args:
        convoy: the convoy.
        page: the repository's address for people.
    """
    for view in pull_request_texts.check_views(convoy, page):
        _, number = ids.checked_task(view.key) or ("", 0)
        task = convoy.task(number)
        yield replace(view, buttons=_buttons(convoy, task)) if task else view


def _buttons(convoy: Convoy, task: Task) -> tuple[Button, ...]:
    return tuple(
        Button(label=on.label, description=on.says, identifier=verb.name)
        for verb in VERBS
        if (on := verb.on_check) is not None and on.offered(convoy, task)
    )


def request_of(verb: str, task: Task | None, commit: str) -> Request | None:
    """Return the request of a pressed button; None: there is no such button.

    Args:
        verb: the button's identifier.
        task: whose check it is; None: the convoy's own, which has "Re-run" only.
        commit: the commit that the check is on.
    """
    known = BY_NAME.get(verb)
    if known is None or known.on_check is None:
        return None
    if task is None:
        return Request("retry") if verb == "retry" else None
    return Request(verb, known.on_check.arguments(task.number, commit))
