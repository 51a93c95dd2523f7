"""The command `brat`: what people type. Exit status 2 is for bad usage, 1 for no."""

import sys
from typing import Annotated, Final

import typer

from bot.version import VERSION
from brat.cli import bot, convoys, daemon, logs, patterns, seeing
from brat.console import fail, say
from grite.errors import BratError

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
convoys.add_to(app)
seeing.add_to(app)
daemon.add_to(app)
patterns.add_to(app)
logs.add_to(app)
bot.add_to(app)


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
    """Run the command line; an expected error is one sentence on stderr and 1."""
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
