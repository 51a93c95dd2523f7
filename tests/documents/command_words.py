"""The tables of docs/command-line.md, from the command line's own tree."""

from collections.abc import Iterator
from typing import Final

import click

from brat.commands.command_line import command_line
from brat.commands.options import PANELS
from tests.documents.tables import table

_SHARED: Final = ("repo", "convoy", "bot", "as_json")
"""What the page says once."""


def tables() -> str:
    tree = command_line("task")
    return "\n".join(
        f"## {name}\n\n"
        + table(
            ("command", "does"),
            (row for word in words for row in _rows(tree.commands[word], word)),
        )
        for name, words in PANELS.items()
    )


def _rows(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(command, click.Group):
        for word, below in sorted(command.commands.items()):
            yield from _rows(below, f"{path} {word}")
        return
    usage = " ".join(("brat", path, *_arguments(command))).replace("|", "\\|")
    help_text = " ".join((command.help or "").split())
    yield f"`{usage}`", _with_options(help_text, command)


def _arguments(command: click.Command) -> Iterator[str]:
    for each in command.params:
        if isinstance(each, click.Argument):
            name = each.human_readable_name
            yield name if each.required or name.startswith("[") else f"[{name}]"


def _with_options(text: str, command: click.Command) -> str:
    told = [
        f"`{each.opts[0]}`: {each.help}"
        for each in command.params
        if isinstance(each, click.Option) and each.name not in _SHARED
    ]
    return "<br>".join((text, *told)).replace("|", "\\|")
