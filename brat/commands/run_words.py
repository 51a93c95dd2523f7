"""The words that run convoys: init, the roles, task, config, demo, up, the daemon."""

import sys
from pathlib import Path
from typing import Final

import click

from brat import commands
from brat.commands import options
from brat.commands.options import FOLDER, Words, flag, group, tree

mayor: Final = group("mayor", "Plan issues: each becomes a convoy.")
task_words: Final = group("task", "Decisions about a task.")
config: Final = group("config", "The configuration.")
daemon: Final = group("daemon", "The background bot on this machine.")


@tree.word()
@click.argument(
    "text",
    metavar="TEXT",
    help="What to do, or a task list. @FILE reads a file, - reads standard input.",
)
@options.title
@click.option("--timeout", help="Time limit; default: 2h.")
def run(text: str, title: str | None, timeout: str | None, repo: Path) -> None:
    """Plan the work, let agents do it, and land what passes your CI.

    Exit status: 0 if everything landed, 1 if something needs you, 3 on timeout.
    Ctrl-C ends the agents and keeps their work.
    """
    starting = commands.start_convoy
    how = starting.Start(title=title, headless=True, timeout=timeout, live=True)
    sys.exit(starting.mayor_start(repo, starting.text_of(text), how))


@tree.word()
@flag("--actions", help="Write files for GitHub Actions.")
@flag("--hosted", help="Write files for a hosted bot.")
def init(*, actions: bool, hosted: bool, repo: Path) -> None:
    """Register this repository with brat; your checkout does not change."""
    if actions or hosted:
        sys.exit(commands.init_repository.init_actions(repo, hosted=hosted))
    commands.init_repository.init(repo)


@tree.word()
@flag("--local", help="Write files here instead of opening a pull request.")
@click.option("--ci", metavar="FILE", default="", help="The CI workflow's filename.")
@flag("--undo", help="Undo what brat setup did.")
@flag("--yes", help="Do not ask for confirmation.")
def setup(*, local: bool, ci: str, undo: bool, yes: bool, repo: Path) -> None:
    """Set up this repository on GitHub: list all steps, ask you, then apply them."""
    from brat.setup.steps import Choices
    from brat.terminal.console import typed_key

    ask = None if yes or not sys.stdin.isatty() else typed_key
    sys.exit(commands.setup.setup(repo, Choices(local, ci, ask, undo, yes)))


@tree.word()
@click.option("--remote", help="Also clean up this remote.")
@flag("--yes", help="Do not ask for confirmation.")
def uninstall(remote: str | None, *, yes: bool, repo: Path) -> None:
    """List what brat left in this repository, ask you, and then remove it."""
    sys.exit(commands.init_repository.uninstall(repo, remote, yes=yes))


@mayor.word("start")
@click.option(
    "--task",
    required=True,
    multiple=True,
    help="What to do, or a task list. Repeat it for more tasks.",
)
@options.title
@options.headless
@options.timeout
@flag("--plan-only", help="Wait for your approval.")
@options.as_json
def mayor_start(
    task: tuple[str, ...],
    title: str | None,
    timeout: str | None,
    *,
    headless: bool,
    plan_only: bool,
    as_json: bool,
    repo: Path,
) -> None:
    """Open an issue with the label `brat` and plan its convoy."""
    starting = commands.start_convoy
    how = starting.Start(
        title=title,
        headless=headless,
        timeout=timeout,
        plan_only=plan_only,
        as_json=as_json,
    )
    sys.exit(starting.mayor_start(repo, starting.text_of(*task), how))


def _add_run(role: str, words: Words, text: str) -> None:
    @words.word("run", help=text)
    @flag("--once", help="Run one round, then exit.")
    @flag("--watch", help="Keep running and wait for more work.")
    def run(*, once: bool, watch: bool, repo: Path) -> None:
        sys.exit(commands.run_loop.run_role(role, repo, once=once, watch=watch))


_add_run("mayor", mayor, "Accept and plan labelled issues.")
_add_run(
    "witness",
    group("witness", "Run agents on ready tasks."),
    "Start agents on ready tasks and accept their work.",
)
_add_run(
    "refinery",
    group("refinery", "Merge work that passes CI."),
    "Open pull requests, have CI test them, and merge them in order.",
)
_add_run(
    "deacon",
    group("deacon", "Clean up."),
    "Remove branches and leases that are no longer needed.",
)


@tree.word()
@click.option(
    "--dashboard/--no-dashboard", default=True, help="Open the dashboard in a browser."
)
@options.port
def up(port: int, *, dashboard: bool, repo: Path) -> None:
    """Run all roles until interrupted, with the dashboard."""
    commands.run_loop.up(repo, port if dashboard else None)


@task_words.word("show")
@options.number
@options.convoy
@options.as_json
def task_show(number: int, convoy: str | None, *, as_json: bool, repo: Path) -> None:
    """Show one task in full."""
    commands.print_views.task(repo, number, convoy, as_json=as_json)


@config.word("check")
def config_check(repo: Path) -> None:
    """Check .brat/config.toml."""
    commands.init_repository.config_check(repo)


@tree.command()
@click.option(
    *("--dir", "directory"),
    type=FOLDER,
    help="Where to create and keep the project.",
)
@options.as_json
@flag("--chaos", help="Kill the bot repeatedly.")
@click.option("--seed", type=options.Whole(), help="The random seed for --chaos.")
@flag("--with-ui", "ui", help="Also open the dashboard.")
@click.option("--engine", default="shell", help="A real agent, such as codex.")
@click.option("--model", help="The model; its key must be set.")
def demo(
    directory: Path | None,
    seed: int | None,
    engine: str,
    model: str | None,
    *,
    as_json: bool,
    chaos: bool,
    ui: bool,
) -> None:
    """Run the whole loop on a local sample project, without an account."""
    from brat.demo import demo_run, sample as engines

    sys.exit(
        demo_run.tell(
            directory,
            engines.chosen(engine, model),
            as_json=as_json,
            chaos=chaos,
            seed=seed,
            ui=ui,
        )
    )


@daemon.word("start")
@options.port
def daemon_start(port: int, repo: Path) -> None:
    """Run all roles in the background, with the dashboard."""
    commands.run_loop.start_daemon(repo, port)


@daemon.word("stop")
def daemon_stop(repo: Path) -> None:
    """Stop the bot; unfinished work continues at the next start."""
    sys.exit(commands.run_loop.stop_daemon(repo))


@daemon.word("status")
def daemon_status(repo: Path) -> None:
    """Show whether the bot is running, since when, its dashboard and its log."""
    sys.exit(commands.run_loop.show_daemon(repo))


@daemon.word("run")
@options.port
def daemon_run(port: int, repo: Path) -> None:
    """Run in the foreground, for a service manager."""
    commands.run_loop.run_daemon(repo, port)
