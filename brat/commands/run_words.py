"""The words that run convoys: init, the roles, task, config, demo, up, the daemon."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from brat.commands.options import (
    HERE,
    Convoy,
    Json,
    Number,
    Once,
    Port,
    Repo,
    Watch,
    group,
)

mayor: Final = group("Plan issues: each becomes a convoy.")
task_words: Final = group("Decisions about a task.")
config: Final = group("The configuration.")

Title = Annotated[str | None, Option(help="The title; default: the text's first line.")]


def add_run_words(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    for name, words in (
        *((role, words) for role, words, _ in _ROLES),
        ("task", task_words),
        ("config", config),
        ("daemon", daemon),
    ):
        app.add_typer(words, name=name)
    for role, words, text in _ROLES:
        words.command("run", help=text)(_role_run(role))
    for command in (run, init, setup, up, demo, uninstall):
        app.command()(command)


def run(
    text: Annotated[
        str,
        Argument(
            metavar="TEXT",
            help="What to do, or a task list. @FILE reads a file, - reads standard "
            "input.",
        ),
    ],
    *,
    title: Title = None,
    timeout: Annotated[str | None, Option(help="Time limit; default: 2h.")] = None,
    repo: Repo = HERE,
) -> None:
    """Plan the work, let agents do it, and land what passes your CI.

    Exit status: 0 if everything landed, 1 if something needs you, 3 on timeout.
    Ctrl-C ends the agents and keeps their work.
    """
    from brat.commands import start_convoy

    how = start_convoy.Start(title=title, headless=True, timeout=timeout, live=True)
    sys.exit(start_convoy.mayor_start(repo, start_convoy.text_of(text), how))


def init(
    *,
    actions: Annotated[bool, Option(help="Write files for GitHub Actions.")] = False,
    hosted: Annotated[bool, Option(help="Write files for a hosted bot.")] = False,
    repo: Repo = HERE,
) -> None:
    """Register this repository with brat; your checkout does not change."""
    from brat.commands import init_repository

    if actions or hosted:
        sys.exit(init_repository.init_actions(repo, hosted=hosted))
    init_repository.init(repo)


def setup(
    *,
    local: Annotated[
        bool,
        Option("--local", help="Write files here instead of opening a pull request."),
    ] = False,
    ci: Annotated[str, Option(metavar="FILE", help="The CI workflow's filename.")] = "",
    undo: Annotated[bool, Option("--undo", help="Undo what brat setup did.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    repo: Repo = HERE,
) -> None:
    """Set up this repository on GitHub: list all steps, ask you, then apply them."""
    from brat.commands import setup as setting_up
    from brat.terminal.console import agrees, typed_key

    def agreed() -> bool:
        return yes or agrees("apply this plan?")

    ask = None if yes or not sys.stdin.isatty() else typed_key
    choices = setting_up.Choices(local, ci, ask, undo)
    sys.exit(setting_up.setup(repo, choices, agreed))


def uninstall(
    *,
    remote: Annotated[str | None, Option(help="Also clean up this remote.")] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    repo: Repo = HERE,
) -> None:
    """List what brat left in this repository, ask you, and then remove it."""
    from brat.commands import init_repository as uninstalling
    from brat.repository.checkout import find
    from brat.terminal.console import agrees

    sys.exit(
        uninstalling.uninstall(
            find(repo), remote, lambda: yes or agrees("remove all of this?")
        )
    )


@mayor.command("start")
def mayor_start(
    task: Annotated[
        list[str], Option(help="What to do, or a task list. Repeat it for more tasks.")
    ],
    *,
    title: Title = None,
    headless: Annotated[bool, Option(help="Run until the convoy has ended.")] = False,
    timeout: Annotated[
        str | None,
        Option(help="With --headless: a time limit, such as 30m; default: 2h."),
    ] = None,
    plan_only: Annotated[bool, Option(help="Wait for your approval.")] = False,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Open an issue with the label `brat` and plan its convoy."""
    from brat.commands import start_convoy

    how = start_convoy.Start(
        title=title,
        headless=headless,
        timeout=timeout,
        plan_only=plan_only,
        as_json=as_json,
    )
    sys.exit(start_convoy.mayor_start(repo, start_convoy.text_of(*task), how))


_ROLES: Final = (
    ("mayor", mayor, "Accept and plan labelled issues."),
    (
        "witness",
        group("Run agents on ready tasks."),
        "Start agents on ready tasks and accept their work.",
    ),
    (
        "refinery",
        group("Merge work that passes CI."),
        "Open pull requests, have CI test them, and merge them in order.",
    ),
    (
        "deacon",
        group("Clean up."),
        "Remove branches and leases that are no longer needed.",
    ),
)


def _role_run(role: str) -> Callable[..., None]:
    def run(*, once: Once = False, watch: Watch = False, repo: Repo = HERE) -> None:
        from brat.commands import run_loop

        sys.exit(run_loop.run_role(role, repo, once=once, watch=watch))

    return run


def up(
    *,
    dashboard: Annotated[bool, Option(help="Open the dashboard in a browser.")] = True,
    port: Port = 5173,
    repo: Repo = HERE,
) -> None:
    """Run all roles until interrupted, with the dashboard."""
    from brat.commands import run_loop

    run_loop.up(repo, port if dashboard else None)


@task_words.command("show")
def task_show(
    number: Number, *, convoy: Convoy = None, as_json: Json = False, repo: Repo = HERE
) -> None:
    """Show one task in full."""
    from brat.commands import print_views

    print_views.task(repo, number, convoy, as_json=as_json)


@config.command("check")
def config_check(repo: Repo = HERE) -> None:
    """Check .brat/config.toml."""
    from brat.commands import init_repository

    init_repository.config_check(repo)


def demo(
    *,
    directory: Annotated[
        Path | None, Option("--dir", help="Where to create and keep the project.")
    ] = None,
    as_json: Json = False,
    chaos: Annotated[bool, Option(help="Kill the bot repeatedly.")] = False,
    seed: Annotated[int | None, Option(help="The random seed for --chaos.")] = None,
    ui: Annotated[bool, Option("--with-ui", help="Also open the dashboard.")] = False,
    engine: Annotated[str, Option(help="A real agent, such as codex.")] = "shell",
    model: Annotated[str | None, Option(help="The model; its key must be set.")] = None,
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


daemon: Final = group("The background bot on this machine.")


@daemon.command("start")
def daemon_start(*, port: Port = 5173, repo: Repo = HERE) -> None:
    """Run all roles in the background, with the dashboard."""
    from brat.commands import run_loop

    run_loop.start_daemon(repo, port)


@daemon.command("stop")
def daemon_stop(repo: Repo = HERE) -> None:
    """Stop the bot; unfinished work continues at the next start."""
    from brat.commands import run_loop

    sys.exit(run_loop.stop_daemon(repo))


@daemon.command("status")
def daemon_status(repo: Repo = HERE) -> None:
    """Show whether the bot is running, since when, its dashboard and its log."""
    from brat.commands import run_loop

    sys.exit(run_loop.show_daemon(repo))


@daemon.command("run")
def daemon_run(*, port: Port = 5173, repo: Repo = HERE) -> None:
    """Run in the foreground, for a service manager."""
    from brat.commands import run_loop

    run_loop.run_daemon(repo, port)
