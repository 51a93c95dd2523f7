"""The words that look: status, why, cost, queue, report, session, convoy."""

from typing import Final

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, flag, group, tree

convoy_words: Final = group("convoy", "Convoys: the state of each issue's work.")
session_words: Final = group("session", "Sessions: the agents that are running.")

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
        "TASK|PULL|EDGE|CONVOY",
        "A task (3), a pull request (pull-12), a wait ('1->3'), or a convoy.",
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
    click.option("--out", type=FOLDER, help="Default: brat-CONVOY.html."),
)
tree.word(
    "dashboard",
    "Show the log live in a browser, read-only; no bot is needed.",
    lambda: commands.dashboard_server.alone,
    options.port,
    options.bot,
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
    options.bot,
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
