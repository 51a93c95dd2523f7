"""The words that run convoys: init, the roles, task, config, demo, up, the daemon."""

from functools import partial
from typing import Final

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, flag, group, tree

mayor: Final = group("mayor", "Plan issues: each becomes a convoy.")
task_words: Final = group("task", "Decisions about a task.")
config: Final = group("config", "The configuration.")
daemon: Final = group("daemon", "The background bot on this machine.")
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
    lambda: commands.demo_run.tell,
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
