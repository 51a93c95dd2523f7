"""Every word of the command line, in one tree, and the groups in which help shows them.

The words that decide about convoys and tasks are made from the table of verbs. Those
that people type most stand at the top of the tree, too, and need no name where only one
thing waits for them.
"""

import re
import sys
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import click
from click.shell_completion import shell_complete

from bot import VERSION
from brat.commands import look_words, options, run_words, service_words
from brat.commands.options import Words

Decide = Callable[..., None]


@cache
def _add_verb_words() -> None:
    from bot.requests.verb_table import VERBS

    for verb in VERBS:
        must = verb.text == "must"
        tells = click.argument("text", required=must, help=verb.text_help)
        if (task := verb.of_task) is not None and task.typed:
            decide = options.convoy(_decision(task.word))
            taken = options.number(tells(decide) if verb.text_help else decide)
            _add(task.typed, task.help, taken)
        if (convoy := verb.of_convoy) is not None and convoy.typed:
            decide = _decision(convoy.word)
            taken = tells(options.convoy(decide)) if must else options.name(decide)
            _add(convoy.typed, convoy.help, taken)


def _add(typed: str, text: str, decide: Decide) -> None:
    group, word = typed.split()
    _OF_VERBS[group].command(word, help=text)(decide)


def _decision(word: str) -> Decide:
    @options.at_bot
    @options.repo
    def decide(
        bot: str | None,
        repo: Path,
        name: str | None = None,
        convoy: str | None = None,
        number: int = 0,
        text: str | None = None,
    ) -> None:
        from bot.requests.verb_table import request_by_word
        from brat.commands.decisions import decided

        asked = request_by_word(word, number, text or "")
        sys.exit(decided(repo, name or convoy, asked, bot))

    return decide


_OF_VERBS: Final = {
    "task": run_words.task_words,
    "convoy": look_words.convoy_words,
    "session": look_words.session_words,
}
PANELS: Final = {
    "Everyday commands": ("run", "status", "why", "diff", "approve"),
    "Decide": (
        *("retry", "drop", "allow", "pause", "resume", "cancel"),
        *("pull", "task", "convoy", "lock"),
    ),
    "Watch": ("queue", "cost", "report", "dashboard", "session"),
    "On GitHub": ("setup", "bot", "workflow"),
    "Local mode, role by role": (
        *("init", "up", "daemon"),
        *("mayor", "witness", "refinery", "deacon"),
    ),
    "Admin": ("demo", "doctor", "config", "log", "mcp", "completion", "uninstall"),
}
"""What help shows, in this order: the words of each group, the most used first."""


class _Root(Words):
    """All words, with the groups in which help shows them."""

    @property
    def sections(self) -> Mapping[str, Collection[str]]:
        return PANELS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A text may be a list. Behind a line break its dash begins no option.
        typed = [each if _NO_TEXT.match(each) else f"\n{each}" for each in args]
        return super().parse_args(ctx, typed)


_NO_TEXT: Final = re.compile(r"[^-]|-{0,2}(?:\w[\w-]*(?:=.*)?)?\Z", re.DOTALL)


@click.group(cls=_Root)
@click.version_option(VERSION, message="brat %(version)s", help="Print the version.")
def _brat() -> None:
    """Run fleets of coding agents on one repository."""


run_words.add_run_words(_brat)
look_words.add_look_words(_brat)
service_words.add_service_words(_brat)

_WORDS: Final = {
    "approve": ("CONVOY", "Approve a plan that is waiting for you."),
    "retry": ("TASK|CONVOY", "Retry blocked work with fresh attempts."),
    "drop": ("TASK", "Give up a task; tasks that need it then wait for you."),
    "allow": ("TASK", "Let a task change the protected paths listed in its plan."),
    "pause": ("CONVOY", "Pause a convoy: nothing new starts."),
    "resume": ("CONVOY", "Resume a paused convoy."),
    "cancel": ("CONVOY", "End a convoy; finished work is kept."),
}


def _at_the_top(word: str, subject: str) -> Decide:
    @options.convoy
    @options.at_bot
    @options.repo
    def decide(
        about: str | None,
        convoy: str | None,
        bot: str | None,
        repo: Path,
        text: str = "",
    ) -> None:
        from brat.commands.decisions import decided_about

        sys.exit(decided_about(repo, word, about, convoy, bot, text))

    told = click.argument("text", metavar="[TEXT]", default="", help="The message.")
    which = click.argument(
        "about",
        required=False,
        metavar=f"[{subject}]",
        shell_complete=options.known("subjects"),
        help="Default: the only one waiting for this decision.",
    )
    return which(told(decide) if word == "retry" else decide)


for _word, (_subject, _text) in _WORDS.items():
    _brat.command(_word, help=_text)(_at_the_top(_word, _subject))


@_brat.command()
@click.argument(
    "shell",
    type=click.Choice(("bash", "zsh", "fish")),
    help='Example: eval "$(brat completion bash)".',
)
def completion(shell: str) -> None:
    """Print a script that lets your shell complete commands, convoys and tasks."""
    shell_complete(_brat, {}, "brat", "_BRAT_COMPLETE", f"{shell}_source")


def command_line(first: str) -> Words:
    """Return the tree of all words, for a line that begins with this one.

    The table of verbs is slow to load: words are made from it where they can be asked
    for.
    """
    if first in _OF_VERBS:
        _add_verb_words()
    return _brat
