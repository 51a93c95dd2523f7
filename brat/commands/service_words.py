"""The words for the log, leases, patterns, a bot on a forge, MCP, and the checks.

The MCP server works over standard input and output, for agents and editors. It reads as
the other commands read, with the rights of whoever started it.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

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
_for_a_time: Final = (
    click.option(
        "--ttl", type=Whole(1, 86_400), default=300, help="How long, in seconds."
    ),
    _resource,
)
_pattern: Final = click.argument("name", help="The pattern; see brat workflow list.")


def _lines(default: int) -> options.Takes:
    return click.option(
        "-n", "number", type=Whole(0), default=default, help="How many lines to print."
    )


log.word(
    "show", "Print the newest events.", lambda: commands.print_views.newest, _lines(50)
)
log.word(
    "tail",
    "Print the newest events; with -f, follow new ones.",
    lambda: commands.print_views.newest,
    flag("-f", "following", help="Wait for new events."),
    _lines(10),
)
log.word(
    "export",
    "Write the whole log to standard output.",
    lambda: commands.print_views.whole_log,
    click.option(
        *("--format", "form"),
        type=click.Choice(("json", "md")),
        default="json",
        help="The output format; default: json.",
    ),
)
log.word(
    "adopt",
    "Mark a log as trusted up to an inspected commit, with this machine's key.",
    lambda: commands.decisions.adopt_log,
    click.argument("head", help="The full ID of the newest commit to trust."),
)
lock.word(
    "status",
    "Show the locks and who holds them.",
    lambda: commands.decisions.show_leases,
    options.as_json,
)


lock.word(
    "acquire",
    "Lock a resource, so no task that needs it can start.",
    lambda: partial(commands.decisions.change_lease, "acquire"),
    *_for_a_time,
)
lock.word(
    "renew",
    "Extend a lease.",
    lambda: partial(commands.decisions.change_lease, "renew"),
    *_for_a_time,
)
lock.word(
    "release",
    "Release a resource.",
    lambda: partial(commands.decisions.change_lease, "release"),
    _resource,
)


def _check_up(
    github: Path | None, bundle: Path | None, *, fix: bool, engines: bool, repo: Path
) -> int:
    if github is not None:
        if bundle is not None:
            raise click.UsageError("--bundle cannot be combined with --github")
        return commands.serve_bot.examine(github, fix=fix)
    from brat.doctor import checkup as checks

    def sweep() -> None:
        commands.run_loop.run_role("deacon", repo, once=True, watch=False)

    return checks.check_up(repo, fix=fix, engines=engines, sweep=sweep, bundle=bundle)


tree.word(
    "doctor",
    "Check git, the registration, the log, its checkpoint and the leases.",
    lambda: _check_up,
    flag("--fix", help="Repair what can be repaired."),
    flag("--engines", help="Check the engines."),
    click.option(
        "--github",
        type=FOLDER,
        help="Check the App and repositories in this settings file.",
    ),
    click.option(
        "--bundle",
        type=FOLDER,
        help="Write a .tar.gz without secrets for a bug report.",
    ),
)
bot.word(
    "serve",
    "Serve every repository listed in the settings, until stopped.",
    lambda: commands.serve_bot.serve,
    click.argument(
        "settings",
        type=FOLDER,
        default="bot.json",
        help="The file that brat bot manifest writes.",
    ),
    flag("--poll", help="Poll GitHub; the bot then needs no public address."),
    click.option(
        *("--log", "form"),
        type=click.Choice(("text", "json")),
        default="text",
        help="The log's format.",
    ),
    about_repository=False,
)
bot.word(
    "manifest",
    "Create a GitHub App with one click on a local page.",
    lambda: commands.serve_bot.manifest,
    click.option(
        "--folder", type=FOLDER, default=HERE, help="Where to put the key and settings."
    ),
    click.option("--name", default="brat", help="The App's name."),
    click.option(
        "--org",
        "organisation",
        default="",
        help="The App's organization; default: you.",
    ),
    click.option(
        "--url",
        "public_url",
        default="",
        help="The bot's address; without one, it polls.",
    ),
    click.option(
        "--dashboard",
        default="",
        help="The dashboard's public address; default: --url.",
    ),
    click.option("--host", default="github.com", help="Your GitHub Enterprise Server."),
    click.option(
        "--port", type=Whole(0, 65_535), default=0, help="The local page's port."
    ),
    about_repository=False,
)
workflow.word(
    "list",
    "Show every pattern, brat's own and the repository's.",
    lambda: commands.start_convoy.list_patterns,
    options.as_json,
)
workflow.word(
    "show",
    "Print one pattern's file, to read it or to use it as a starting point.",
    lambda: commands.start_convoy.show_pattern,
    _pattern,
    options.as_json,
)
workflow.word(
    "run",
    "Open an issue and plan its convoy with this pattern.",
    lambda: commands.start_convoy.run_pattern,
    _pattern,
    click.option("--task", required=True, help="What to do: the issue's text."),
    click.option(
        *("--value", "-v", "values"),
        multiple=True,
        help="One of the pattern's inputs: name=value.",
    ),
    options.headless,
    options.timeout,
)


def _serve_mcp(repo: Path) -> None:
    import asyncio

    from grite.errors import BratError

    if find_spec("mcp") is None:
        raise BratError(
            "the MCP server needs the package mcp, which is not installed; install it "
            "with: pip install 'brat-bot[mcp]'"
        )
    asyncio.run(commands.mcp_server.serve(repo.resolve()))


tree.word(
    "mcp",
    "Serve agents and editors over MCP on standard input and output.",
    lambda: _serve_mcp,
)
