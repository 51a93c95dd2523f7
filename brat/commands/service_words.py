"""The words for the log, leases, patterns, a bot on a forge, MCP, and the checks.

The MCP server works over standard input and output, for agents and editors. It reads as
the other commands read, with the rights of whoever started it.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, HERE, Whole, flag, group, tree

log: Final = group("log", "The log: what happened, in order.")
lock: Final = group("lock", "Leases: who holds a path, a port or an issue.")
bot: Final = group("bot", "The bot on GitHub: create its App and run it.")
workflow: Final = group(
    "workflow", "Patterns: templates that plan a convoy (docs/workflows.md)."
)

_resource: Final = click.argument(
    "resource", help="repo:, path:, issue:, port: or service:NAME."
)
_ttl: Final = click.option(
    "--ttl", type=Whole(1, 86_400), default=300, help="How long, in seconds."
)
_pattern: Final = click.argument("name", help="The pattern; see brat workflow list.")


@log.word("show")
@click.option(
    "-n", "number", type=Whole(0), default=50, help="How many lines to print."
)
def log_show(number: int, repo: Path) -> None:
    """Print the newest events."""
    commands.print_views.newest(repo, number)


@log.word("tail")
@flag("-f", "following", help="Wait for new events.")
@click.option(
    "-n", "number", type=Whole(0), default=10, help="How many lines to print."
)
def log_tail(number: int, *, following: bool, repo: Path) -> None:
    """Print the newest events; with -f, follow new ones."""
    commands.print_views.newest(repo, number, following=following)


@log.word("export")
@click.option(
    *("--format", "form"),
    type=click.Choice(("json", "md")),
    default="json",
    help="The output format; default: json.",
)
def log_export(form: str, repo: Path) -> None:
    """Write the whole log to standard output."""
    commands.print_views.whole_log(repo, as_json=form == "json")


@log.word("adopt")
@click.argument("head", help="The full ID of the newest commit to trust.")
def log_adopt(head: str, repo: Path) -> None:
    """Mark a log as trusted up to an inspected commit, with this machine's key."""
    commands.decisions.adopt_log(repo, head)


@lock.word("status")
@options.as_json
def lock_status(*, as_json: bool, repo: Path) -> None:
    """Show the locks and who holds them."""
    commands.decisions.show_leases(repo, as_json=as_json)


def _add_lease(
    word: Literal["acquire", "renew", "release"], text: str, *, lasts: bool
) -> None:
    @_resource
    def change(resource: str, repo: Path, ttl: int | None = None) -> None:
        sys.exit(commands.decisions.change_lease(repo, word, resource, ttl))

    lock.word(word, help=text)(_ttl(change) if lasts else change)


_add_lease(
    "acquire", "Lock a resource, so no task that needs it can start.", lasts=True
)
_add_lease("renew", "Extend a lease.", lasts=True)
_add_lease("release", "Release a resource.", lasts=False)


@tree.word()
@flag("--fix", help="Repair what can be repaired.")
@flag("--engines", help="Check the engines.")
@click.option(
    "--github",
    type=FOLDER,
    help="Check the App and repositories in this settings file.",
)
@click.option(
    "--bundle", type=FOLDER, help="Write a .tar.gz without secrets for a bug report."
)
def doctor(
    github: Path | None, bundle: Path | None, *, fix: bool, engines: bool, repo: Path
) -> None:
    """Check git, the registration, the log, its checkpoint and the leases."""
    if github is not None:
        if bundle is not None:
            raise click.UsageError("--bundle cannot be combined with --github")
        sys.exit(commands.serve_bot.examine(github, fix=fix))
    from brat.doctor import checkup as checks

    def sweep() -> None:
        commands.run_loop.run_role("deacon", repo, once=True, watch=False)

    sys.exit(
        checks.check_up(repo, fix=fix, engines=engines, sweep=sweep, bundle=bundle)
    )


@bot.command("serve")
@click.argument(
    "settings",
    type=FOLDER,
    default="bot.json",
    help="The file that brat bot manifest writes.",
)
@flag("--poll", help="Poll GitHub; the bot then needs no public address.")
@click.option(
    *("--log", "form"),
    type=click.Choice(("text", "json")),
    default="text",
    help="The log's format.",
)
def serve(settings: Path, form: str, *, poll: bool) -> None:
    """Serve every repository listed in the settings, until stopped."""
    commands.serve_bot.serve(settings, poll=poll, as_json=form == "json")


@bot.command("manifest")
@click.option(
    "--folder", type=FOLDER, default=HERE, help="Where to put the key and settings."
)
@click.option("--name", default="brat", help="The App's name.")
@click.option("--org", default="", help="The App's organization; default: you.")
@click.option("--url", default="", help="The bot's address; without one, it polls.")
@click.option(
    "--dashboard", default="", help="The dashboard's public address; default: --url."
)
@click.option("--host", default="github.com", help="Your GitHub Enterprise Server.")
@click.option("--port", type=Whole(0, 65_535), default=0, help="The local page's port.")
def manifest(
    folder: Path, name: str, org: str, url: str, dashboard: str, host: str, port: int
) -> None:
    """Create a GitHub App with one click on a local page."""
    from bot.serving.github_app import dashboard_at

    commands.serve_bot.manifest(
        port,
        host,
        folder=folder,
        name=name,
        organisation=org,
        public_url=url,
        dashboard_url=dashboard_at(url, dashboard),
    )


@workflow.word("list")
@options.as_json
def workflow_list(*, as_json: bool, repo: Path) -> None:
    """Show every pattern, brat's own and the repository's."""
    sys.exit(commands.start_convoy.list_patterns(repo, as_json=as_json))


@workflow.word("show")
@_pattern
@options.as_json
def workflow_show(name: str, *, as_json: bool, repo: Path) -> None:
    """Print one pattern's file, to read it or to use it as a starting point."""
    commands.start_convoy.show_pattern(repo, name, as_json=as_json)


@workflow.word("run")
@_pattern
@click.option("--task", required=True, help="What to do: the issue's text.")
@click.option(
    *("--value", "-v"),
    multiple=True,
    help="One of the pattern's inputs: name=value.",
)
@options.headless
@options.timeout
def workflow_run(
    name: str,
    task: str,
    value: tuple[str, ...],
    timeout: str | None,
    *,
    headless: bool,
    repo: Path,
) -> None:
    """Open an issue and plan its convoy with this pattern."""
    sys.exit(
        commands.start_convoy.run_pattern(
            repo, name, task, value, headless=headless, timeout=timeout
        )
    )


@tree.word()
def mcp(repo: Path) -> None:
    """Serve agents and editors over MCP on standard input and output."""
    import asyncio

    from grite.errors import BratError

    if find_spec("mcp") is None:
        raise BratError(
            "the MCP server needs the package mcp, which is not installed; install it "
            "with: pip install 'brat-bot[mcp]'"
        )
    asyncio.run(commands.mcp_server.serve(repo.resolve()))
