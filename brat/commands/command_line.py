"""Every word of the command line, in one tree, and the groups in which help shows them.

The words that decide about convoys and tasks are made from the table of verbs. Those
that people type most stand at the top of the tree, too, and need no name where only one
thing waits for them.
"""

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
from typer import Argument, Option
from typer.core import TyperGroup
from typer.models import CommandInfo

from bot import VERSION
from brat.commands import look_words, run_words, service_words
from brat.commands.options import HERE, AtBot, Convoy, Name, Number, Repo

Words = Callable[..., None]


@cache
def _add_verb_words() -> None:
    from bot.requests.verb_table import VERBS

    for verb in VERBS:
        text = verb.text_help
        if (task := verb.of_task) is not None and task.typed:
            default = None if verb.text == "must" else str
            tells = _tells_task(task.word, text, default)
            _add(task.typed, task.help, tells if text else _of_task(task.word))
        if (convoy := verb.of_convoy) is not None and convoy.typed:
            about = _of_convoy(convoy.word)
            if verb.text == "must":
                about = _tells_convoy(convoy.word, text)
            _add(convoy.typed, convoy.help, about)


def _add(typed: str, text: str, words: Words) -> None:
    group, word = typed.split()
    _OF_VERBS[group].command(word, help=text)(words)


def _of_task(word: str) -> Words:
    def decide(
        number: Number, convoy: Convoy = None, bot: AtBot = None, repo: Repo = HERE
    ) -> None:
        _decide(repo, convoy, bot, word, number)

    return decide


def _tells_task(word: str, text_help: str, default: type[str] | None) -> Words:
    def decide(
        number: Number,
        text: Annotated[
            str, Argument(help=text_help, default_factory=default, show_default=False)
        ],
        convoy: Convoy = None,
        bot: AtBot = None,
        repo: Repo = HERE,
    ) -> None:
        _decide(repo, convoy, bot, word, number, text)

    return decide


def _of_convoy(word: str) -> Words:
    def decide(name: Name, bot: AtBot = None, repo: Repo = HERE) -> None:
        _decide(repo, name, bot, word)

    return decide


def _tells_convoy(word: str, text_help: str) -> Words:
    def decide(
        text: Annotated[str, Argument(help=text_help)],
        convoy: Convoy = None,
        bot: AtBot = None,
        repo: Repo = HERE,
    ) -> None:
        _decide(repo, convoy, bot, word, text=text)

    return decide


def _decide(
    repo: Path,
    convoy: str | None,
    bot: str | None,
    word: str,
    number: int = 0,
    text: str = "",
) -> NoReturn:
    from bot.requests.verb_table import request_by_word
    from brat.commands.decisions import decided

    sys.exit(decided(repo, convoy, request_by_word(word, number, text), bot))


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
_PANEL_OF: Final = {word: name for name, words in PANELS.items() for word in words}


class _Group(TyperGroup):
    """All words; where what is typed is of no use, it says what is allowed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        # A text may be a list. Behind a line break its dash begins no option.
        typed = [each if _NO_TEXT.match(each) else f"\n{each}" for each in args]
        return super().parse_args(ctx, typed)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  as typer has it
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            from pydantic import ValidationError

            if isinstance(cause := error.__cause__, ValidationError):
                (first, *_), param = cause.errors(), error.param
                error.message = first["msg"].removeprefix("Value error, ")
                if first["type"] in _NO_NUMBER:
                    least, most = (getattr(param, of, None) for of in ("min", "max"))
                    to = "" if most is None else f" to {most}"
                    given = "" if least is None else f" from {least}{to or ' upwards'}"
                    error.message = f"{first['input']!r} is not a whole number{given}."
            raise


_NO_TEXT: Final = re.compile(r"[^-]|-{0,2}(?:\w[\w-]*(?:=.*)?)?\Z", re.DOTALL)
_NO_NUMBER: Final = ("int_parsing", "greater_than_equal", "less_than_equal")
"""https://docs.pydantic.dev/latest/errors/validation_errors/"""
_app: Final = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,  # its own starts all of brat at each key; see completion.py
    pretty_exceptions_enable=False,
)
run_words.add_run_words(_app)
look_words.add_look_words(_app)
service_words.add_service_words(_app)


_WORDS: Final = {
    "approve": ("CONVOY", "Approve a plan that is waiting for you."),
    "retry": ("TASK|CONVOY", "Retry blocked work with fresh attempts."),
    "drop": ("TASK", "Give up a task; tasks that need it then wait for you."),
    "allow": ("TASK", "Let a task change the protected paths listed in its plan."),
    "pause": ("CONVOY", "Pause a convoy: nothing new starts."),
    "resume": ("CONVOY", "Resume a paused convoy."),
    "cancel": ("CONVOY", "End a convoy; finished work is kept."),
}


def _at_the_top(word: str, subject: str) -> Words:
    About = Annotated[  # noqa: N806  a type
        str | None,
        Argument(
            metavar=f"[{subject}]",
            help="Default: the only one waiting for this decision.",
        ),
    ]

    def tell(
        about: About = None,
        text: Annotated[str, Argument(metavar="[TEXT]", help="The message.")] = "",
        convoy: Convoy = None,
        bot: AtBot = None,
        repo: Repo = HERE,
    ) -> None:
        from brat.commands.decisions import decided_about

        sys.exit(decided_about(repo, word, about, convoy, bot, text))

    def decide(
        about: About = None,
        convoy: Convoy = None,
        bot: AtBot = None,
        repo: Repo = HERE,
    ) -> None:
        tell(about, "", convoy, bot, repo)

    return tell if word == "retry" else decide


for _word, (_subject, _text) in _WORDS.items():
    _app.command(_word, help=_text)(_at_the_top(_word, _subject))


Shell = StrEnum("Shell", ["bash", "zsh", "fish"])
"""A shell that can complete words."""


@_app.command()
def completion(
    shell: Annotated[Shell, Argument(help='Example: eval "$(brat completion bash)".')],
) -> None:
    """Print a script that lets your shell complete commands, convoys and tasks."""
    from brat.commands.completion import places, script_of
    from brat.terminal.console import write

    write(script_of(shell, places(typer.main.get_command(_app))))


def _say_version(asked: bool) -> None:  # noqa: FBT001  as typer hands it over
    if asked:
        typer.echo(f"brat {VERSION}")
        raise typer.Exit


@_app.callback()
def _brat(
    *,
    version: Annotated[
        bool,
        Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Run fleets of coding agents on one repository."""


def _word_of(command: CommandInfo) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))


for _group in _app.registered_groups:
    _group.rich_help_panel = _PANEL_OF[str(_group.name)]
for _command in _app.registered_commands:
    _command.rich_help_panel = _PANEL_OF[_word_of(_command)]
_app.registered_commands.sort(key=lambda each: [*_PANEL_OF].index(_word_of(each)))


def command_line(first: str) -> typer.Typer:
    """Return the tree of all words, for a line that begins with this one.

    The table of verbs is slow to load: words are made from it where they can be asked
    for.
    """
    if first in (*_OF_VERBS, completion.__name__):
        _add_verb_words()
    return _app
