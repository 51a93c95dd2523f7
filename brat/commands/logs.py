"""The words that look at the log, hold leases and check the whole."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from brat.commands.options import HERE, Json, Repo, group

log: Final = group("The log: what happened, in order.")
lock: Final = group("Leases: who holds a path, a port, an issue.")

Resource = Annotated[
    str, typer.Argument(help="repo: path: issue: port: or service:, then a name.")
]
Ttl = Annotated[int, typer.Option(min=1, max=86_400, help="Seconds.")]


def add_to(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    app.add_typer(log, name="log")
    app.add_typer(lock, name="lock")
    app.command()(doctor)


@log.command("show")
def log_show(
    number: Annotated[int, typer.Option("-n", help="The newest so many lines.")] = 50,
    repo: Repo = HERE,
) -> None:
    """Print the newest events."""
    from brat.commands import log_reports

    log_reports.show(repo, number)


@log.command("tail")
def log_tail(
    *,
    following: Annotated[bool, typer.Option("-f", help="Wait for more.")] = False,
    number: Annotated[int, typer.Option("-n", help="So many lines first.")] = 10,
    repo: Repo = HERE,
) -> None:
    """Print the newest events, and with -f what comes."""
    from brat.commands import log_reports

    log_reports.tail(repo, number, following=following)


@log.command("export")
def log_export(
    form: Annotated[str, typer.Option("--format", help="json or md.")] = "json",
    repo: Repo = HERE,
) -> None:
    """Write the whole log to standard output."""
    from brat.commands import log_reports

    log_reports.export(repo, form)


@log.command("checkpoint")
def log_checkpoint(repo: Repo = HERE) -> None:
    """Write the folded state beside the log, so that fresh clones start fast."""
    from brat.commands import log_reports

    sys.exit(log_reports.checkpoint(repo))


@log.command("adopt")
def log_adopt(
    head: Annotated[
        str, typer.Argument(help="The newest commit that counts, in full.")
    ],
    repo: Repo = HERE,
) -> None:
    """Vouch for a log up to a commit, with this machine's key, after a look at it."""
    from brat.commands import log_reports

    sys.exit(log_reports.adopt(repo, head))


@lock.command("status")
def lock_status(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show who holds what."""
    from brat.commands import lock as leases

    leases.status(repo, as_json=as_json)


@lock.command("acquire")
def lock_acquire(resource: Resource, ttl: Ttl = 300, repo: Repo = HERE) -> None:
    """Hold a resource: no task that needs it starts meanwhile."""
    from brat.commands import lock as leases

    sys.exit(leases.lock(repo, "acquire", resource, ttl))


@lock.command("renew")
def lock_renew(resource: Resource, ttl: Ttl = 300, repo: Repo = HERE) -> None:
    """Hold it longer."""
    from brat.commands import lock as leases

    sys.exit(leases.lock(repo, "renew", resource, ttl))


@lock.command("release")
def lock_release(resource: Resource, repo: Repo = HERE) -> None:
    """Give it up."""
    from brat.commands import lock as leases

    sys.exit(leases.lock(repo, "release", resource))


def doctor(
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what can be.")] = False,
    engines: Annotated[
        bool, typer.Option("--engines", help="Look at each engine's program and key.")
    ] = False,
    github: Annotated[
        Path | None,
        typer.Option(
            "--github", help="A bot's settings: look at its App and repositories."
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle", help="Write a .tar.gz without secrets for who helps you."
        ),
    ] = None,
    repo: Repo = HERE,
) -> None:
    """Check git, the registration, the log, its checkpoint and the leases."""
    if github is not None:
        if bundle is not None:
            raise typer.BadParameter("--bundle is of a checkout, --github of a bot")
        from brat.commands import serve_bot

        sys.exit(serve_bot.examine(github, fix=fix))
    from brat.doctor import checkup as checks

    def sweep() -> None:
        from brat.commands import run_loop

        run_loop.run("deacon", repo, once=True, watch=False)

    sys.exit(checks.run(repo, fix=fix, engines=engines, sweep=sweep, bundle=bundle))
