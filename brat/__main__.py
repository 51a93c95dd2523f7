"""The command `brat`: what people type. Exit status 2 is for bad usage, 1 for no."""

import sys
from typing import Final

import typer

from brat.cli import bot, convoys, logs, patterns, seeing
from brat.console import fail, say
from grite.errors import BratError

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Run fleets of coding agents on one repository.",
)
convoys.add_to(app)
seeing.add_to(app)
patterns.add_to(app)
logs.add_to(app)
bot.add_to(app)


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
