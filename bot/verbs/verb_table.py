"""The one table of verbs, and the help made from it.

Add a verb as a row of its family in `bot/verbs/`, with its rule and its reply.
Comments, boxes, buttons, the API, the command line, the help and the pages come from
the table: `make docs` writes docs/commands.md and the dashboard's openapi.json.
"""

from typing import Final

from bot.text.visible_text import code_span
from bot.verbs import (
    approval_verbs,
    ending_verbs,
    landing_verbs,
    lock_verbs,
    merge_verbs,
    message_verbs,
    pause_verbs,
    plan_verbs,
    reshaping_verbs,
    retry_verbs,
    revision_verbs,
    start_verbs,
    status_verbs,
)
from bot.verbs.arguments import Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import USAGE_CHARS, Verb
from convoy.text import did_you_mean

_PLACES: Final = {"issue": "issues", "pull": "pull requests", "both": "both"}
_RIGHTS: Final = {
    "read": "everybody",
    "write": "who may write",
    "maintain": "who may maintain",
}


def _verb(word: str) -> str:
    """Read the name of a verb."""
    if word.lower() in BY_NAME:
        return word.lower()
    raise ValueError(f"is no verb{did_you_mean(word, BY_NAME)}")


def _help(_: RequestContext, *, verb: str | None = None) -> str:
    return help_text(verb)


VERBS: Final = (
    Verb(
        name="help",
        right="read",
        words=(Argument(name="verb", read=_verb, form="<verb>", needed=False),),
        help="Shows what can be said, or how one verb is used.",
        rule=_help,
        asks=True,
    ),
    *status_verbs.VERBS,
    *start_verbs.VERBS,
    *approval_verbs.VERBS,
    *retry_verbs.VERBS,
    *revision_verbs.VERBS,
    *message_verbs.VERBS,
    *pause_verbs.VERBS,
    *ending_verbs.VERBS,
    *plan_verbs.VERBS,
    *reshaping_verbs.VERBS,
    *merge_verbs.VERBS,
    *landing_verbs.VERBS,
    *lock_verbs.VERBS,
)
"""Every verb, in the order of the help, the boxes and the buttons."""

BY_NAME: Final = {verb.name: verb for verb in VERBS}
BY_TASK_WORD: Final = {v.of_task.word: v for v in VERBS if v.of_task is not None}
"""The verbs about a task for button, API and command line, by their endpoint's word."""
BY_CONVOY_WORD: Final = {v.of_convoy.word: v for v in VERBS if v.of_convoy is not None}
"""The verbs about a convoy for button, API and command line, by endpoint word."""


# --- help -----------------------------------------------------------------------------


def help_text(verb: str | None = None) -> str:
    """Return the help for all verbs, or for one, as Markdown."""
    from bot.text.slash_commands import MOST_COMMANDS

    if verb is None:
        return (
            "A command is a line of its own, outside of lists, quotes and code; a "
            f"comment may have {MOST_COMMANDS}.\n\n{table()}"
        )
    row = BY_NAME.get(verb)
    if row is None:
        return f"There is no verb {code_span(verb)}{did_you_mean(verb, BY_NAME)}"
    where, who = _PLACES[row.place], _RIGHTS[row.right]
    return (
        f"{code_span(row.usage, USAGE_CHARS)}\n\n{row.help}\n\nOn: {where}. Who: {who}."
    )


def table() -> str:
    """Return all verbs as a Markdown table."""
    rows = (
        # A table's cell ends at a `|`, in code too.
        (
            code_span(verb.usage, USAGE_CHARS).replace("|", r"\|"),
            _PLACES[verb.place],
            _RIGHTS[verb.right],
            verb.help,
        )
        for verb in VERBS
    )
    head = (("say", "on", "who", "what happens"), ("---",) * 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))
