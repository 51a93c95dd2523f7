"""`brat completion SHELL`: a script by which a shell completes brat's words.

The words and options are in the script; convoys, tasks and sessions are asked for as
somebody types, which takes less than loading the command line would.
"""

from enum import StrEnum
from typing import Annotated

import typer

from brat.terminal.console import write

Shell = StrEnum("Shell", ["bash", "zsh", "fish"])
"""A shell that can complete words."""


def add_to(app: typer.Typer) -> None:
    """Add this word to the command line."""

    def completion(
        shell: Annotated[
            Shell, typer.Argument(help='Such as: eval "$(brat completion bash)".')
        ],
    ) -> None:
        """Print a script that lets your shell complete words, convoys and tasks."""
        from brat.commands import completion_scripts
        from brat.commands.completion_table import places

        found = places(typer.main.get_command(app))
        write(completion_scripts.script_of(shell, found))

    app.command()(completion)
