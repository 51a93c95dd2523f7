"""The command `brat`. It exits with 2 on bad usage and with 1 on any other failure."""

import sys
from typing import Annotated, Final

import typer

from bot.settings.version import VERSION
from brat.commands import (
    bot,
    convoy,
    daemon,
    logs,
    mcp,
    verb_commands,
    viewing,
    workflow,
)
from brat.terminal.console import fail, say
from grite.errors import BratError

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
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


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with 1."""
    try:
        app()
    except BratError as error:
        fail(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


if __name__ == "__main__":
    main()
