"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Final

import typer

HERE: Final = Path()


def _named(path: Path) -> Path:
    if path == HERE:
        return path
    from brat.terminal.console import name_repository

    return name_repository(path)


Repo = Annotated[
    Path, typer.Option(help="A folder in the git repository.", callback=_named)
]
Once = Annotated[
    bool, typer.Option("--once", help="Do one round, wait for its sessions, then exit.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Keep running and wait for more work.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Number = Annotated[int, typer.Argument(help="The task's number in its convoy.")]
Name = Annotated[str, typer.Argument(help="The convoy's name; see brat convoy list.")]
Convoy = Annotated[
    str | None, typer.Option("--convoy", help="The convoy; default: the active one.")
]
Port = Annotated[
    int, typer.Option(min=0, max=65_535, help="The dashboard's port; 0: any free port.")
]
Bot = Annotated[
    str | None,
    typer.Option(
        "--bot",
        help="The address of a bot on another machine that shows session output; put "
        "its feed_token in BRAT_FEED_TOKEN.",
    ),
]
AtBot = Annotated[
    str | None,
    typer.Option(
        "--bot",
        metavar="URL",
        help="The dashboard address of the bot that carries this out; or set "
        "BRAT_BOT_URL or git config brat.bot. Put a token that it accepts in "
        "BRAT_API_TOKEN.",
    ),
]


def group(text: str) -> typer.Typer:
    """Return a command that has commands of its own."""
    return typer.Typer(no_args_is_help=True, help=text)
