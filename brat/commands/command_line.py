"""Every word of the command line, in one tree, and the groups in which help shows them.

The words that decide about convoys and tasks are made from the table of verbs. Those
that people type most stand at the top of the tree, too, and need no name where only one
thing waits for them.
"""

from functools import cache, partial
from pathlib import Path
from typing import Final

import click
from click.shell_completion import shell_complete

from brat import commands
from brat.commands import options, words
from brat.commands.options import Deed, Words, tree


@cache
def _add_verb_words() -> None:
    from bot.requests.verb_table import VERBS

    for verb in VERBS:
        must = verb.text == "must"
        tells = click.argument("text", required=must, help=verb.text_help)
        told, of_task = (tells,) if verb.text_help else (), (options.number,)
        of_convoy = (tells, options.convoy) if must else (options.name,)
        for end, takes in (
            (verb.of_task, (*of_task, *told, options.convoy)),
            (verb.of_convoy, of_convoy),
        ):
            if end is not None and end.typed:
                group, word = end.typed.split()
                deed = partial(_decision, end.word)
                _OF_VERBS[group].word(word, end.help, deed, *takes, options.at_bot)


def _decision(word: str) -> Deed:
    from bot.requests.verb_table import request_by_word
    from brat.commands.decisions import decided

    def decide(
        bot: str | None,
        repo: Path,
        name: str | None = None,
        convoy: str | None = None,
        number: int = 0,
        text: str | None = None,
    ) -> int:
        asked = request_by_word(word, number, text or "")
        return decided(repo, name or convoy, asked, bot)

    return decide


_OF_VERBS: Final = {
    "task": words.task_words,
    "convoy": words.convoy_words,
    "session": words.session_words,
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


def _about(word: str) -> Deed:
    return partial(commands.decisions.decided_about, word)


_TELLS: Final = click.argument(
    "text", metavar="[TEXT]", default="", help="The message."
)
for _word, (_subject, _text) in _WORDS.items():
    tree.word(
        _word,
        _text,
        partial(_about, _word),
        options.subject(
            f"[{_subject}]", "Default: the only one waiting for this decision."
        ),
        *((_TELLS,) if _word == "retry" else ()),
        options.convoy,
        options.at_bot,
    )


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
