"""The tables of docs/command-line.md, from the command line's own tree."""

from collections.abc import Iterator
from typing import Any, Final

import typer

from brat.commands.command_line import PANELS, command_line

_SHARED: Final = ("repo", "convoy", "bot", "as_json")
"""What the page says once."""


def tables() -> str:
    tree: Any = typer.main.get_command(command_line("completion"))
    return "\n".join(
        f"## {name}\n\n| command | does |\n| --- | --- |\n"
        + "".join(row for word in words for row in _rows(tree.commands[word], word))
        for name, words in PANELS.items()
    )


def _rows(command: Any, path: str) -> Iterator[str]:  # noqa: ANN401  Typer's tree is untyped
    below = getattr(command, "commands", None)
    if below is not None:
        for word in sorted(below):
            yield from _rows(below[word], f"{path} {word}")
        return
    usage = " ".join(("brat", path, *_arguments(command))).replace("|", "\\|")
    help_text = " ".join(command.help.split())
    yield f"| `{usage}` | {_with_options(help_text, command)} |\n"


def _arguments(command: Any) -> Iterator[str]:  # noqa: ANN401
    for each in command.params:
        if each.param_type_name == "argument":
            name = each.metavar or each.name.upper()
            yield name if each.required or name.startswith("[") else f"[{name}]"


def _with_options(text: str, command: Any) -> str:  # noqa: ANN401
    told = [
        f"`{each.opts[0]}`: {each.help}"
        for each in command.params
        if each.param_type_name == "option" and each.name not in _SHARED
    ]
    return "<br>".join((text, *told)).replace("|", "\\|")
