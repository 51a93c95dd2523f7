"""The words for the log, leases, patterns, a bot on a forge, MCP, and the checks.

The MCP server works over standard input and output, for agents and editors. It reads as
the other commands read, with the rights of whoever started it.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from typer import Argument, Option

from brat.commands.options import HERE, Json, Repo, group
from brat.terminal.console import LogForm, write
from grite.errors import BratError

log: Final = group("The log: what happened, in order.")
lock: Final = group("Leases: who holds a path, a port or an issue.")

Resource = Annotated[str, Argument(help="repo:, path:, issue:, port: or service:NAME.")]
Ttl = Annotated[int, Option(min=1, max=86_400, help="How long, in seconds.")]


def add_service_words(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    groups = {"workflow": workflow, "log": log, "lock": lock, "bot": bot}
    for name, words in groups.items():
        app.add_typer(words, name=name)
    app.command()(doctor)
    app.command()(mcp)


@log.command("show")
def log_show(
    number: Annotated[int, Option("-n", min=0, help="How many lines to print.")] = 50,
    repo: Repo = HERE,
) -> None:
    """Print the newest events."""
    from brat.repository import log_reader

    for line in log_reader.newest_lines(log_reader.log_repository(repo), number):
        write(log_reader.shown_line(line))


@log.command("tail")
def log_tail(
    *,
    following: Annotated[bool, Option("-f", help="Wait for new events.")] = False,
    number: Annotated[int, Option("-n", min=0, help="How many lines to print.")] = 10,
    repo: Repo = HERE,
) -> None:
    """Print the newest events; with -f, follow new ones."""
    log_show(number, repo)
    if following:
        from brat.repository import log_reader

        for line in log_reader.follow_lines(log_reader.log_repository(repo)):
            write(line)


@log.command("export")
def log_export(
    form: Annotated[
        Literal["json", "md"],
        Option("--format", help="The output format; default: json."),
    ] = "json",
    repo: Repo = HERE,
) -> None:
    """Write the whole log to standard output."""
    from brat.repository import log_reader

    some = log_reader.log_entries(log_reader.log_repository(repo))
    write(log_reader.as_json(some) if form == "json" else log_reader.as_markdown(some))


@log.command("adopt")
def log_adopt(
    head: Annotated[str, Argument(help="The full ID of the newest commit to trust.")],
    repo: Repo = HERE,
) -> None:
    """Mark a log as trusted up to an inspected commit, with this machine's key."""
    from brat.commands import log_commands

    log_commands.adopt_log(repo, head)


@lock.command("status")
def lock_status(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show the locks and who holds them."""
    from brat.commands import log_commands as leases

    leases.show_leases(repo, as_json=as_json)


@lock.command("acquire")
def lock_acquire(resource: Resource, ttl: Ttl = 300, repo: Repo = HERE) -> None:
    """Lock a resource, so no task that needs it can start."""
    from brat.commands import log_commands as leases

    sys.exit(leases.change_lease(repo, "acquire", resource, ttl))


@lock.command("renew")
def lock_renew(resource: Resource, ttl: Ttl = 300, repo: Repo = HERE) -> None:
    """Extend a lease."""
    from brat.commands import log_commands as leases

    sys.exit(leases.change_lease(repo, "renew", resource, ttl))


@lock.command("release")
def lock_release(resource: Resource, repo: Repo = HERE) -> None:
    """Release a resource."""
    from brat.commands import log_commands as leases

    sys.exit(leases.change_lease(repo, "release", resource))


def doctor(
    *,
    fix: Annotated[bool, Option("--fix", help="Repair what can be repaired.")] = False,
    engines: Annotated[bool, Option("--engines", help="Check the engines.")] = False,
    github: Annotated[
        Path | None,
        Option(
            "--github", help="Check the App and repositories in this settings file."
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        Option("--bundle", help="Write a .tar.gz without secrets for a bug report."),
    ] = None,
    repo: Repo = HERE,
) -> None:
    """Check git, the registration, the log, its checkpoint and the leases."""
    if github is not None:
        if bundle is not None:
            raise typer.BadParameter("--bundle cannot be combined with --github")
        from brat.commands import serve_bot

        sys.exit(serve_bot.examine(github, fix=fix))
    from brat.doctor import checkup as checks

    def sweep() -> None:
        from brat.commands import run_loop

        run_loop.run_role("deacon", repo, once=True, watch=False)

    sys.exit(
        checks.check_up(repo, fix=fix, engines=engines, sweep=sweep, bundle=bundle)
    )


bot: Final = group("The bot on GitHub: create its App and run it.")

SettingsFile = Annotated[Path, Argument(help="The file that brat bot manifest writes.")]


@bot.command("serve")
def serve(
    settings: SettingsFile = Path("bot.json"),
    *,
    poll: Annotated[
        bool,
        Option("--poll", help="Poll GitHub; the bot then needs no public address."),
    ] = False,
    log: Annotated[LogForm, Option("--log", help="The log's format.")] = LogForm.TEXT,
) -> None:
    """Serve every repository listed in the settings, until stopped."""
    from brat.commands import serve_bot

    serve_bot.serve(settings, poll=poll, form=log)


@bot.command("manifest")
def manifest(
    folder: Annotated[Path, Option(help="Where to put the key and settings.")] = HERE,
    *,
    name: Annotated[str, Option(help="The App's name.")] = "brat",
    org: Annotated[str, Option(help="The App's organization; default: you.")] = "",
    url: Annotated[str, Option(help="The bot's address; without one, it polls.")] = "",
    dashboard: Annotated[
        str, Option(help="The dashboard's public address; default: --url.")
    ] = "",
    host: Annotated[str, Option(help="Your GitHub Enterprise Server.")] = "github.com",
    port: Annotated[int, Option(min=0, max=65_535, help="The local page's port.")] = 0,
) -> None:
    """Create a GitHub App with one click on a local page."""
    from bot.serving.github_app import dashboard_at
    from brat.commands import serve_bot

    wish = serve_bot.wish_at(
        host,
        folder=folder,
        name=name,
        organisation=org,
        public_url=url,
        dashboard_url=dashboard_at(url, dashboard),
    )
    serve_bot.manifest(wish, port)


workflow: Final = group("Patterns: templates that plan a convoy (docs/workflows.md).")

Pattern = Annotated[str, Argument(help="The pattern; see brat workflow list.")]


@workflow.command("list")
def workflow_list(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show every pattern, brat's own and the repository's."""
    from brat.commands import start_convoy

    sys.exit(start_convoy.list_patterns(repo, as_json=as_json))


@workflow.command("show")
def workflow_show(name: Pattern, *, as_json: Json = False, repo: Repo = HERE) -> None:
    """Print one pattern's file, to read it or to use it as a starting point."""
    from brat.commands import start_convoy

    start_convoy.show_pattern(repo, name, as_json=as_json)


@workflow.command("run")
def workflow_run(
    name: Pattern,
    *,
    task: Annotated[str, Option(help="What to do: the issue's text.")],
    value: Annotated[
        list[str] | None,
        Option("--value", "-v", help="One of the pattern's inputs: name=value."),
    ] = None,
    headless: Annotated[bool, Option(help="Run until the convoy has ended.")] = False,
    timeout: Annotated[str | None, Option(help="Time limit; default: 2h.")] = None,
    repo: Repo = HERE,
) -> None:
    """Open an issue and plan its convoy with this pattern."""
    from brat.commands import start_convoy

    sys.exit(
        start_convoy.run_pattern(
            repo, name, task, value or (), headless=headless, timeout=timeout
        )
    )


def mcp(repo: Repo = HERE) -> None:
    """Serve agents and editors over MCP on standard input and output."""
    import asyncio

    if find_spec("mcp") is None:
        raise BratError(
            "the MCP server needs the package mcp, which is not installed; install it "
            "with: pip install 'brat-bot[mcp]'"
        )
    from brat.commands import mcp_server

    asyncio.run(mcp_server.serve(repo.resolve()))
