"""The tree of words: options that several share, and how help lists the words."""

import re
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import click

from bot import VERSION

Kind = Literal["convoys", "tasks", "sessions", "subjects"]

HERE: Final = Path()
FOLDER: Final = click.Path(path_type=Path)

Deed = Callable[..., int | None]
"""What a command does with its arguments, by their names; returns its exit status."""
Takes = Callable[[Any], Any]
"""Adds an argument or an option to a command."""


class Whole(click.ParamType[int]):
    """A whole number within these bounds, which belong to what is allowed."""

    name = "integer"

    def __init__(self, least: int | None = None, most: int | None = None) -> None:
        self._least, self._most = least, most

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        least, most = self._least, self._most
        with suppress(ValueError):
            number = int(value)
            if (least is None or number >= least) and (most is None or number <= most):
                return number
        to = "" if most is None else f" to {most}"
        given = "" if least is None else f" from {least}{to or ' upwards'}"
        return self.fail(f"{value!r} is not a whole number{given}.", param, ctx)


def _named(_ctx: object, _param: object, path: Path) -> Path:
    if path == HERE:
        return path
    from brat.terminal.console import name_repository

    return name_repository(path)


def flag(*names: str, help: str) -> Takes:  # noqa: A002  as click has it
    return click.option(*names, is_flag=True, help=help)


def known(kind: Kind) -> Callable[..., list[str]]:
    """Return what completes such names from the log, for a shell."""

    def names(ctx: click.Context, _param: object, begun: str) -> list[str]:
        from brat.status.find_task import known_names

        given = ctx.params
        found = known_names(kind, given.get("repo") or HERE, given.get("convoy"))
        return [name for name in found if name.startswith(begun)]

    return names


_REPO: Final = click.Option(
    ["--repo"],
    type=FOLDER,
    default=HERE,
    callback=_named,
    help="A folder in the git repository.",
)


def subject(shown: str, said: str) -> Takes:
    """Return the argument for a task or a convoy; in brackets it may be left out."""
    return click.argument(
        "about",
        required=not shown.startswith("["),
        metavar=shown,
        shell_complete=known("subjects"),
        help=said,
    )


watch: Final = flag("--watch", help="Keep running and update the view.")
as_json: Final = flag("--json", "as_json", help="Print one JSON object on stdout.")
number: Final = click.argument(
    "number",
    type=Whole(),
    shell_complete=known("tasks"),
    help="The task's number in its convoy.",
)
name: Final = click.argument(
    "name",
    shell_complete=known("convoys"),
    help="The convoy's name; see brat convoy list.",
)
convoy: Final = click.option(
    "--convoy", shell_complete=known("convoys"), help="Default: the active convoy."
)
port: Final = click.option(
    "--port",
    type=Whole(0, 65_535),
    default=5173,
    help="Dashboard port; 0 means any.",
)
title: Final = click.option(
    "--title", help="The title; default: the text's first line."
)
headless: Final = flag("--headless", help="Run until the convoy has ended.")
timeout: Final = click.option(
    "--timeout", help="With --headless: a time limit, such as 30m; default: 2h."
)
at_bot: Final = click.option(
    "--bot",
    metavar="URL",
    help="The dashboard address of the bot to ask; default: BRAT_BOT_URL, "
    "then git config brat.bot. Put a token that the bot accepts in BRAT_API_TOKEN.",
)


class Words(click.Group):
    """Commands, with a whole sentence of help for each."""

    panels: Mapping[str, Collection[str]] | None = None
    """The commands under each heading, in the order of help; None: all under one."""

    def word(
        self,
        name: str,
        said: str,
        deed: Callable[[], Deed],
        *takes: Takes,
        about_repository: bool = True,
    ) -> None:
        """Add a command with its help; `deed` loads what it does once it is typed."""

        def does(**given: object) -> None:
            sys.exit(deed()(**given))

        for take in reversed(takes):
            take(does)
        command = self.command(name, help=said)(does)
        command.params += [_REPO] * about_repository

    def format_commands(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        for title, words in (self.panels or {"Commands": self.commands}).items():
            helps = [(word, self.commands[word].help or "") for word in words]
            rows = [(word, text.partition("\n\n")[0]) for word, text in helps]
            with formatter.section(title):
                formatter.write_dl(rows)


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


_NO_TEXT: Final = re.compile(r"[^-]|-{0,2}(?:\w[\w-]*(?:=.*)?)?\Z", re.DOTALL)


class _Root(Words):
    panels: Mapping[str, Collection[str]] | None = PANELS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A text may be a list. Behind a line break its dash begins no option.
        typed = [each if _NO_TEXT.match(each) else f"\n{each}" for each in args]
        return super().parse_args(ctx, typed)


@click.group(cls=_Root)
@click.version_option(VERSION, message="brat %(version)s", help="Print the version.")
def tree() -> None:
    """Run fleets of coding agents on one repository."""


def group(name: str, text: str) -> Words:
    """Return a new command of the tree that has commands of its own."""
    words = Words(help=text)
    tree.add_command(words, name)
    return words
