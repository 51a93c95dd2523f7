"""The words for a bot in the background: daemon start, stop, status, run."""

import sys
from typing import Final

import typer

from brat.commands.options import HERE, Port, Repo, group

daemon: Final = group("The bot in the background, on this machine.")


def add_to(app: typer.Typer) -> None:
    """Add these words to the command line."""
    app.add_typer(daemon, name="daemon")


@daemon.command("start")
def daemon_start(*, port: Port = 5173, repo: Repo = HERE) -> None:
    """Run all roles in the background, with the dashboard."""
    from brat.commands import daemon_process
    from brat.local.run_roles import checked
    from brat.repository import checkout, registration

    found = checkout.find(repo)
    checked(found)
    registration.read(found.folder)
    sys.exit(daemon_process.start(found, port))


@daemon.command("stop")
def daemon_stop(repo: Repo = HERE) -> None:
    """End it; whatever is unfinished goes on at the next start."""
    from brat.commands import daemon_process
    from brat.repository import checkout

    sys.exit(daemon_process.stop(checkout.find(repo)))


@daemon.command("status")
def daemon_status(repo: Repo = HERE) -> None:
    """Say whether it runs, since when, and where its dashboard and its log are."""
    from brat.commands import daemon_process
    from brat.repository import checkout

    sys.exit(daemon_process.status(checkout.find(repo)))


@daemon.command("run")
def daemon_run(*, port: Port = 5173, repo: Repo = HERE) -> None:
    """Be it, in the foreground: for a service manager."""
    from brat.commands import daemon_process
    from brat.local.run_roles import checked
    from brat.repository import checkout

    found = checkout.find(repo)
    checked(found)
    sys.exit(daemon_process.run(found, port))
