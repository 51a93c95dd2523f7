"""The words that look: status, why, cost, queue, report, session, convoy."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from brat.commands.options import (
    HERE,
    Bot,
    Convoy,
    Json,
    Name,
    Number,
    Port,
    Repo,
    group,
)

convoy_words: Final = group("Convoys: the state of each issue's work.")
session_words: Final = group("Sessions: the agents that are running.")

Session = Annotated[str, Argument(help="CONVOY/TASK/ATTEMPT; see brat session list.")]

Watching = Annotated[bool, Option("--watch", help="Keep running and update the view.")]


def add_look_words(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    app.add_typer(convoy_words, name="convoy")
    app.add_typer(session_words, name="session")
    for command in (status, why, diff, pull, cost, queue, report, dashboard):
        app.command()(command)


def status(
    *,
    convoy: Convoy = None,
    watch: Watching = False,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Show every convoy, its tasks, and what is waiting for you.

    Exit status: 1 if something is waiting for you, otherwise 0.
    """
    from brat.commands import print_views

    sys.exit(print_views.status(repo, convoy, as_json=as_json, watch=watch))


def why(
    about: Annotated[
        str,
        Argument(
            metavar="TASK|PULL|EDGE|CONVOY",
            help="A task (3), a pull request (pull-12), a wait ('1->3'), or a convoy.",
        ),
    ],
    *,
    convoy: Convoy = None,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Explain the state of a task, pull request, wait or convoy."""
    from brat.commands import print_views

    print_views.why(repo, about, convoy, as_json=as_json)


def diff(
    about: Annotated[
        str | None,
        Argument(metavar="[TASK|CONVOY]", help="Default: the active convoy."),
    ] = None,
    *,
    stat: Annotated[bool, Option("--stat", help="List changed files only.")] = False,
    convoy: Convoy = None,
    repo: Repo = HERE,
) -> None:
    """Show what a task or a convoy changes, landed or not."""
    from brat.commands import print_diff

    print_diff.diff(repo, about, convoy, stat=stat)


def pull(repo: Repo = HERE) -> None:
    """Bring landed work into your checkout, and show the git command."""
    from brat.commands import print_diff

    sys.exit(print_diff.pull(repo))


def cost(
    *,
    convoy: Annotated[str | None, Option("--convoy", help="Only this convoy.")] = None,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Show the tokens that each convoy's sessions used, and their cost if known."""
    from brat.commands import print_views

    print_views.cost(repo, convoy, as_json=as_json)


def queue(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show the merge queues in landing order."""
    from brat.commands import print_views

    print_views.queue(repo, as_json=as_json)


def report(
    convoy: Annotated[str | None, Argument(help="Default: the active convoy.")] = None,
    *,
    out: Annotated[Path | None, Option(help="Default: brat-CONVOY.html.")] = None,
    repo: Repo = HERE,
) -> None:
    """Write a report on a convoy as one HTML page: time, cost and retries."""
    from brat import report

    report.write_report(repo, convoy, out)


def dashboard(*, port: Port = 5173, bot: Bot = None, repo: Repo = HERE) -> None:
    """Show the log live in a browser, read-only; no bot is needed."""
    import asyncio

    from brat.repository.log_reader import log_repository
    from brat.status import dashboard_server
    from brat.status.session_views import RemoteOutput
    from brat.terminal.console import say

    far = None if bot is None else RemoteOutput.of(bot, log_repository(repo))
    asyncio.run(dashboard_server.alone(repo.resolve(), port, say, far))


@session_words.command("list")
def session_list(
    *,
    every: Annotated[bool, Option("--all", help="Include ended sessions.")] = False,
    watch: Watching = False,
    convoy: Convoy = None,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Show the running agents, how long each has run, and what it printed last."""
    from brat.commands import print_views

    if watch and (every or as_json):
        raise typer.BadParameter("--watch cannot be combined with --all or --json")
    if convoy is not None and not every:
        raise typer.BadParameter("--convoy requires --all")
    if every:
        print_views.all_sessions(repo, convoy, as_json=as_json)
    else:
        print_views.sessions(repo, as_json=as_json, watch=watch)


@session_words.command("tail")
def session_tail(
    task: Number,
    *,
    following: Annotated[bool, Option("-f", help="Wait for more output.")] = False,
    convoy: Convoy = None,
    bot: Bot = None,
    repo: Repo = HERE,
) -> None:
    """Show the output of a task's newest session, from here or from another bot."""
    from brat.status import session_views as tail

    tail.tail_session(repo, task, convoy, bot, following=following)


@session_words.command("show")
def session_show(name: Session, *, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show one session: what it is doing, or how it ended and what it printed last."""
    from brat.status import session_views

    session_views.show_session(repo, name, as_json=as_json)


@convoy_words.command("list")
def convoy_list(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """List all convoys, one per line."""
    from brat.commands import print_views

    print_views.convoys(repo, as_json=as_json)


@convoy_words.command("show")
def convoy_show(name: Name, *, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show one convoy, its tasks and its plan; exits like `brat status`."""
    from brat.commands import print_views

    sys.exit(print_views.convoy(repo, name, as_json=as_json))
