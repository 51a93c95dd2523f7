"""Every word of the command line but those that the table of verbs makes.

A row names a word, its help, what loads the function that it stands for, and what it
takes.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, HERE, Whole, flag, group, tree

convoy_words: Final = group("convoy", "Convoys: the state of each issue's work.")
session_words: Final = group("session", "Sessions: the agents that are running.")
mayor: Final = group("mayor", "Plan issues: each becomes a convoy.")
task_words: Final = group("task", "Decisions about a task.")
config: Final = group("config", "The configuration.")
daemon: Final = group("daemon", "The background bot on this machine.")
log: Final = group("log", "The log: what happened, in order.")
lock: Final = group("lock", "Leases: who holds a path, a port or an issue.")
bot: Final = group("bot", "The bot on GitHub: create its App and run it.")
workflow: Final = group(
    "workflow", "Patterns: templates that plan a convoy (docs/workflows.md)."
)

# --- words that look ----------------------------------------------------------------

tree.word(
    "status",
    "Show every convoy, its tasks, and what is waiting for you.\n\n"
    "Exit status: 1 if something is waiting for you, otherwise 0.",
    lambda: commands.print_views.status,
    options.convoy,
    options.watch,
    options.as_json,
)
tree.word(
    "why",
    "Explain the state of a task, pull request, wait or convoy.",
    lambda: commands.print_views.why,
    options.subject(
        "[TASK|PULL|EDGE|CONVOY]",
        "A task (3), a pull request (pull-12), a wait ('1->3'), or a convoy; default: "
        "the active convoy.",
    ),
    options.convoy,
    options.as_json,
)
tree.word(
    "diff",
    "Show what a task or a convoy changes, landed or not.",
    lambda: commands.print_diff.diff,
    options.subject("[TASK|CONVOY]", "Default: the active convoy."),
    flag("--stat", help="List changed files only."),
    options.convoy,
)
tree.word(
    "pull",
    "Bring landed work into your checkout, and show the git command.",
    lambda: commands.print_diff.pull,
)
tree.word(
    "cost",
    "Show the tokens that each convoy's sessions used, and their cost if known.",
    lambda: commands.print_views.cost,
    click.option(
        "--convoy", shell_complete=options.known("convoys"), help="Only this convoy."
    ),
    options.as_json,
)
tree.word(
    "queue",
    "Show the merge queues in landing order.",
    lambda: commands.print_views.queue,
    options.as_json,
)
tree.word(
    "report",
    "Write a report on a convoy as one HTML page: time, cost and retries.",
    lambda: commands.report.write_report,
    click.argument(
        "convoy",
        required=False,
        shell_complete=options.known("convoys"),
        help="Default: the active convoy.",
    ),
    click.option("--out", type=FOLDER, help="Default: a file inside .git."),
)
tree.word(
    "dashboard",
    "Show the log live in a browser, read-only; no bot is needed.",
    lambda: commands.dashboard_server.alone,
    options.port,
)

session_words.word(
    "list",
    "Show the running agents, how long each has run, and what it printed last.",
    lambda: commands.print_views.sessions,
    flag("--all", "every", help="Include ended sessions."),
    options.watch,
    options.convoy,
    options.as_json,
)
session_words.word(
    "tail",
    "Show the output of a task's newest session, from here or from another bot.",
    lambda: commands.session_views.tail_session,
    options.number,
    flag("-f", "following", help="Wait for more output."),
    options.convoy,
    options.at_bot,
)
session_words.word(
    "show",
    "Show one session: what it is doing, or how it ended and what it printed last.",
    lambda: commands.session_views.show_session,
    click.argument(
        "name",
        shell_complete=options.known("sessions"),
        help="CONVOY/TASK/ATTEMPT; see brat session list.",
    ),
    options.as_json,
)
convoy_words.word(
    "list",
    "List all convoys, one per line.",
    lambda: commands.print_views.convoys,
    options.as_json,
)
convoy_words.word(
    "show",
    "Show one convoy, its tasks and its plan; exits like `brat status`.",
    lambda: commands.print_views.convoy,
    options.name,
    options.as_json,
)

# --- words that run convoys ---------------------------------------------------------

_YES: Final = flag("--yes", help="Do not ask for confirmation.")

tree.word(
    "run",
    "Plan the work, let agents do it, and land what passes your CI.\n\n"
    "Exit status: 0 if everything landed, 1 if something needs you, 3 on timeout. "
    "Ctrl-C ends the agents and keeps their work.",
    lambda: commands.start_convoy.run,
    click.argument(
        "text",
        metavar="TEXT",
        help="What to do, or a task list. @FILE reads a file, - reads standard input.",
    ),
    options.title,
    click.option("--timeout", help="Time limit; default: 2h."),
)
tree.word(
    "init",
    "Register this repository with brat; your checkout does not change.",
    lambda: commands.init_repository.init,
    flag("--actions", help="Write files for GitHub Actions."),
    flag("--hosted", help="Write files for a hosted bot."),
)
tree.word(
    "setup",
    "Set up this repository on GitHub: list all steps, ask you, then apply them.",
    lambda: commands.setup.setup,
    flag("--local", help="Write files here instead of opening a pull request."),
    click.option(
        "--ci", metavar="FILE", default="", help="The CI workflow's filename."
    ),
    flag("--undo", help="Undo what brat setup did."),
    _YES,
)
tree.word(
    "uninstall",
    "List what brat left in this repository, ask you, and then remove it.",
    lambda: commands.init_repository.uninstall,
    click.option("--remote", help="Also clean up this remote."),
    _YES,
)
mayor.word(
    "start",
    "Open an issue with the label `brat` and plan its convoy.",
    lambda: commands.start_convoy.start,
    click.option(
        "--task",
        "tasks",
        required=True,
        multiple=True,
        help="What to do, or a task list. Repeat it for more tasks.",
    ),
    options.title,
    options.headless,
    options.timeout,
    flag("--plan-only", help="Wait for your approval."),
    options.as_json,
)
_ROUNDS: Final = (
    flag("--once", help="Run one round, then exit."),
    flag("--watch", help="Keep running and wait for more work."),
)
mayor.word(
    "run",
    "Accept and plan labelled issues.",
    lambda: partial(commands.run_loop.run_role, "mayor"),
    *_ROUNDS,
)
group("witness", "Run agents on ready tasks.").word(
    "run",
    "Start agents on ready tasks and accept their work.",
    lambda: partial(commands.run_loop.run_role, "witness"),
    *_ROUNDS,
)
group("refinery", "Merge work that passes CI.").word(
    "run",
    "Open pull requests, have CI test them, and merge them in order.",
    lambda: partial(commands.run_loop.run_role, "refinery"),
    *_ROUNDS,
)
group("deacon", "Clean up.").word(
    "run",
    "Remove branches and leases that are no longer needed.",
    lambda: partial(commands.run_loop.run_role, "deacon"),
    *_ROUNDS,
)
tree.word(
    "up",
    "Run all roles until interrupted, with the dashboard.",
    lambda: commands.run_loop.up,
    click.option(
        "--dashboard/--no-dashboard",
        default=True,
        help="Open the dashboard in a browser.",
    ),
    options.port,
)
task_words.word(
    "show",
    "Show one task in full.",
    lambda: commands.print_views.task,
    options.number,
    options.convoy,
    options.as_json,
)
config.word(
    "check",
    "Check .brat/config.toml.",
    lambda: commands.init_repository.config_check,
)
tree.word(
    "demo",
    "Run the whole loop on a local sample project, without an account.",
    lambda: commands.demo.tell,
    click.option(
        *("--dir", "directory"),
        type=FOLDER,
        help="Where to create and keep the project.",
    ),
    options.as_json,
    flag("--chaos", help="Kill the bot repeatedly."),
    click.option("--seed", type=options.Whole(), help="The random seed for --chaos."),
    flag("--with-ui", "ui", help="Also open the dashboard."),
    click.option("--engine", default="shell", help="A real agent, such as codex."),
    click.option("--model", help="The model; its key must be set."),
    about_repository=False,
)
daemon.word(
    "start",
    "Run all roles in the background, with the dashboard.",
    lambda: commands.run_loop.start_daemon,
    options.port,
)
daemon.word(
    "stop",
    "Stop the bot; unfinished work continues at the next start.",
    lambda: commands.run_loop.stop_daemon,
)
daemon.word(
    "status",
    "Show whether the bot is running, since when, its dashboard and its log.",
    lambda: commands.run_loop.show_daemon,
)
daemon.word(
    "run",
    "Run in the foreground, for a service manager.",
    lambda: commands.run_loop.run_daemon,
    options.port,
)

# --- the log, leases, patterns, a bot on a forge, MCP, and the checks -----------------

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
    lambda: partial(commands.decisions.change_lease, "lock", "locked"),
    *_for_a_time,
)
lock.word(
    "renew",
    "Extend a lease.",
    lambda: partial(commands.decisions.change_lease, "renew", "renewed"),
    *_for_a_time,
)
lock.word(
    "release",
    "Release a resource.",
    lambda: partial(commands.decisions.change_lease, "unlock", "released"),
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
