"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

HERE: Final = Path()


def _named(path: Path) -> Path:
    if path == HERE:
        return path
    from brat.terminal.console import name_repository

    return name_repository(path)


Repo = Annotated[Path, Option(help="A folder in the git repository.", callback=_named)]
Once = Annotated[bool, Option("--once", help="Run one round, then exit.")]
Watch = Annotated[bool, Option("--watch", help="Keep running and wait for more work.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object on stdout.")]
Number = Annotated[int, Argument(help="The task's number in its convoy.")]
Name = Annotated[str, Argument(help="The convoy's name; see brat convoy list.")]
Convoy = Annotated[str | None, Option("--convoy", help="Default: the active convoy.")]
Port = Annotated[int, Option(min=0, max=65_535, help="Dashboard port; 0 means any.")]
Bot = Annotated[
    str | None,
    Option(
        "--bot",
        help="Show session output from the bot at this address; put its feed_token "
        "in BRAT_FEED_TOKEN.",
    ),
]
AtBot = Annotated[
    str | None,
    Option(
        "--bot",
        metavar="URL",
        help="The dashboard address of the bot to send this to; default: BRAT_BOT_URL, "
        "then git config brat.bot. Put a token that the bot accepts in "
        "BRAT_API_TOKEN.",
    ),
]


def group(text: str) -> typer.Typer:
    """Return a command that has commands of its own."""
    return typer.Typer(no_args_is_help=True, help=text)
