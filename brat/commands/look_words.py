"""The words that look: status, why, cost, queue, report, session, convoy."""

import sys
from pathlib import Path
from typing import Final

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, flag, group, tree

convoy_words: Final = group("convoy", "Convoys: the state of each issue's work.")
session_words: Final = group("session", "Sessions: the agents that are running.")


@tree.word()
@options.convoy
@options.watch
@options.as_json
def status(convoy: str | None, *, watch: bool, as_json: bool, repo: Path) -> None:
    """Show every convoy, its tasks, and what is waiting for you.

    Exit status: 1 if something is waiting for you, otherwise 0.
    """
    sys.exit(commands.print_views.status(repo, convoy, as_json=as_json, watch=watch))


@tree.word()
@click.argument(
    "about",
    metavar="TASK|PULL|EDGE|CONVOY",
    shell_complete=options.known("subjects"),
    help="A task (3), a pull request (pull-12), a wait ('1->3'), or a convoy.",
)
@options.convoy
@options.as_json
def why(about: str, convoy: str | None, *, as_json: bool, repo: Path) -> None:
    """Explain the state of a task, pull request, wait or convoy."""
    commands.print_views.why(repo, about, convoy, as_json=as_json)


@tree.word()
@click.argument(
    "about",
    required=False,
    metavar="[TASK|CONVOY]",
    shell_complete=options.known("subjects"),
    help="Default: the active convoy.",
)
@flag("--stat", help="List changed files only.")
@options.convoy
def diff(about: str | None, convoy: str | None, *, stat: bool, repo: Path) -> None:
    """Show what a task or a convoy changes, landed or not."""
    commands.print_diff.diff(repo, about, convoy, stat=stat)


@tree.word()
def pull(repo: Path) -> None:
    """Bring landed work into your checkout, and show the git command."""
    sys.exit(commands.print_diff.pull(repo))


@tree.word()
@click.option(
    "--convoy", shell_complete=options.known("convoys"), help="Only this convoy."
)
@options.as_json
def cost(convoy: str | None, *, as_json: bool, repo: Path) -> None:
    """Show the tokens that each convoy's sessions used, and their cost if known."""
    commands.print_views.cost(repo, convoy, as_json=as_json)


@tree.word()
@options.as_json
def queue(*, as_json: bool, repo: Path) -> None:
    """Show the merge queues in landing order."""
    commands.print_views.queue(repo, as_json=as_json)


@tree.word()
@click.argument(
    "convoy",
    required=False,
    shell_complete=options.known("convoys"),
    help="Default: the active convoy.",
)
@click.option("--out", type=FOLDER, help="Default: brat-CONVOY.html.")
def report(convoy: str | None, out: Path | None, repo: Path) -> None:
    """Write a report on a convoy as one HTML page: time, cost and retries."""
    from brat import report

    report.write_report(repo, convoy, out)


@tree.word()
@options.port
@options.bot
def dashboard(port: int, bot: str | None, repo: Path) -> None:
    """Show the log live in a browser, read-only; no bot is needed."""
    import asyncio

    from brat.status import dashboard_server

    asyncio.run(dashboard_server.alone(repo.resolve(), port, bot))


@session_words.word("list")
@flag("--all", "every", help="Include ended sessions.")
@options.watch
@options.convoy
@options.as_json
def session_list(
    convoy: str | None, *, every: bool, watch: bool, as_json: bool, repo: Path
) -> None:
    """Show the running agents, how long each has run, and what it printed last."""
    if watch and (every or as_json):
        raise click.UsageError("--watch cannot be combined with --all or --json")
    if convoy is not None and not every:
        raise click.UsageError("--convoy requires --all")
    if every:
        commands.print_views.all_sessions(repo, convoy, as_json=as_json)
    else:
        commands.print_views.sessions(repo, as_json=as_json, watch=watch)


@session_words.word("tail")
@options.number
@flag("-f", "following", help="Wait for more output.")
@options.convoy
@options.bot
def session_tail(
    number: int, convoy: str | None, bot: str | None, *, following: bool, repo: Path
) -> None:
    """Show the output of a task's newest session, from here or from another bot."""
    from brat.status import session_views as tail

    tail.tail_session(repo, number, convoy, bot, following=following)


@session_words.word("show")
@click.argument(
    "name",
    shell_complete=options.known("sessions"),
    help="CONVOY/TASK/ATTEMPT; see brat session list.",
)
@options.as_json
def session_show(name: str, *, as_json: bool, repo: Path) -> None:
    """Show one session: what it is doing, or how it ended and what it printed last."""
    from brat.status import session_views

    session_views.show_session(repo, name, as_json=as_json)


@convoy_words.word("list")
@options.as_json
def convoy_list(*, as_json: bool, repo: Path) -> None:
    """List all convoys, one per line."""
    commands.print_views.convoys(repo, as_json=as_json)


@convoy_words.word("show")
@options.name
@options.as_json
def convoy_show(name: str, *, as_json: bool, repo: Path) -> None:
    """Show one convoy, its tasks and its plan; exits like `brat status`."""
    sys.exit(commands.print_views.convoy(repo, name, as_json=as_json))
