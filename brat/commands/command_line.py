"""Every word of the command line, in one tree."""

from typing import Annotated, Final

import typer

from bot import VERSION
from brat.commands import (
    bot,
    completion,
    convoy,
    daemon,
    logs,
    mcp,
    verb_commands,
    viewing,
    workflow,
)

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,  # its own starts all of brat at each key; see completion.py
    pretty_exceptions_enable=False,
)
convoy.add_to(app)
viewing.add_to(app)
verb_commands.add_to(
    {"task": convoy.task, "convoy": viewing.convoy, "session": viewing.session}
)
daemon.add_to(app)
workflow.add_to(app)
logs.add_to(app)
bot.add_to(app)
mcp.add_to(app)
completion.add_to(app)


def _say_version(asked: bool) -> None:  # noqa: FBT001  as typer hands it over
    if asked:
        typer.echo(f"brat {VERSION}")
        raise typer.Exit


@app.callback()
def _brat(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say which one."
        ),
    ] = False,
) -> None:
    """Run fleets of coding agents on one repository."""
