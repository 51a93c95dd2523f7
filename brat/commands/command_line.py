"""Every word of the command line, in one tree, and the groups in which help shows them.

The words that decide about convoys and tasks are made from the table of verbs. Those
that people type most stand at the top of the tree, too, and need no name where only one
thing waits for them.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import click
from click.shell_completion import shell_complete

from brat.commands import (
    look_words,
    options,
    run_words,
    service_words,  # noqa: F401  it adds its words to the tree
)
from brat.commands.options import Words, tree

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
            group, word = task.typed.split()
            _OF_VERBS[group].word(word, help=task.help)(taken)
        if (convoy := verb.of_convoy) is not None and convoy.typed:
            decide = _decision(convoy.word)
            taken = tells(options.convoy(decide)) if must else options.name(decide)
            group, word = convoy.typed.split()
            _OF_VERBS[group].word(word, help=convoy.help)(taken)


def _decision(word: str) -> Decide:
    @options.at_bot
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
    tree.word(_word, help=_text)(_at_the_top(_word, _subject))


@tree.command()
@click.argument(
    "shell",
    type=click.Choice(("bash", "zsh", "fish")),
    help='Example: eval "$(brat completion bash)".',
)
def completion(shell: str) -> None:
    """Print a script that lets your shell complete commands, convoys and tasks."""
    shell_complete(tree, {}, "brat", "_BRAT_COMPLETE", f"{shell}_source")


def command_line(first: str) -> Words:
    """Return the tree of all words, for a line that begins with this one.

    The table of verbs is slow to load: words are made from it where they can be asked
    for.
    """
    if first in _OF_VERBS:
        _add_verb_words()
    return tree
