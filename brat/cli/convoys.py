"""The words that run convoys: init, the roles, task, config, demo."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from brat.cli.options import (
    HERE,
    AtBot,
    Convoy,
    Json,
    Number,
    Once,
    Port,
    Repo,
    Watch,
    group,
)
from brat.executors import Executor

mayor: Final = group("Plan: one issue, one convoy.")
witness: Final = group("Run agents on ready tasks.")
refinery: Final = group("Merge what CI finds green.")
deacon: Final = group("Sweep up what is left over.")
task: Final = group("What a person decides of a task.")
config: Final = group("The configuration.")


def add_to(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    for name, words in (
        ("mayor", mayor),
        ("witness", witness),
        ("refinery", refinery),
        ("deacon", deacon),
        ("task", task),
        ("config", config),
    ):
        app.add_typer(words, name=name)
    for command in (init, up, demo, uninstall):
        app.command()(command)


def init(
    *,
    actions: Annotated[
        bool, typer.Option(help="Write the workflow files: no server, no local forge.")
    ] = False,
    hosted: Annotated[
        bool, typer.Option(help="Write those that a bot of your own needs.")
    ] = False,
    repo: Repo = HERE,
) -> None:
    """Let brat know this repository; nothing in your checkout changes."""
    from brat import commands

    if actions or hosted:
        sys.exit(commands.init_actions(repo, hosted=hosted))
    commands.init(repo)


def uninstall(
    *,
    remote: Annotated[
        str | None, typer.Option(help="Remove brat's refs there, too, such as origin.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    repo: Repo = HERE,
) -> None:
    """Remove what brat left in this repository; it lists all of it and asks first."""
    from brat import commands

    sys.exit(commands.uninstall(repo, remote, yes=yes))


@mayor.command("start")
def mayor_start(
    task: Annotated[str, typer.Option(help="What is to be done; may be a task list.")],
    *,
    headless: Annotated[bool, typer.Option(help="Run all of it, then end.")] = False,
    timeout: Annotated[str, typer.Option(help="With --headless: 30m, 2h, 90s.")] = "2h",
    plan_only: Annotated[
        bool, typer.Option(help="Nothing starts before you approve the plan.")
    ] = False,
    as_json: Json = False,
    repo: Repo = HERE,
) -> None:
    """Open an issue with the label `brat` and plan its convoy."""
    from brat import commands

    how = commands.Start(
        headless=headless, timeout=timeout, plan_only=plan_only, as_json=as_json
    )
    sys.exit(commands.mayor_start(repo, task, how))


@mayor.command("ask")
def mayor_ask(
    question: Annotated[str, typer.Argument(help="In your own words.")],
    *,
    engine: Annotated[
        str | None, typer.Option(help="Who answers; else the one that plans.")
    ] = None,
    repo: Repo = HERE,
) -> None:
    """Ask an engine about the repository and its convoys; nothing is changed."""
    from brat import asking

    sys.exit(asking.ask(repo, question, engine))


@mayor.command("run")
def mayor_run(*, once: Once = False, watch: Watch = False, repo: Repo = HERE) -> None:
    """Accept and plan what is labelled."""
    _run("mayor", repo, once=once, watch=watch)


@witness.command("run")
def witness_run(*, once: Once = False, watch: Watch = False, repo: Repo = HERE) -> None:
    """Start agents on ready tasks and take in their work."""
    _run("witness", repo, once=once, watch=watch)


@refinery.command("run")
def refinery_run(
    *, once: Once = False, watch: Watch = False, repo: Repo = HERE
) -> None:
    """Open pull requests, let CI judge, merge in order."""
    _run("refinery", repo, once=once, watch=watch)


@deacon.command("run")
def deacon_run(*, once: Once = False, watch: Watch = False, repo: Repo = HERE) -> None:
    """Sweep branches and leases that nobody needs."""
    _run("deacon", repo, once=once, watch=watch)


def up(
    *,
    dashboard: Annotated[bool, typer.Option(help="Show it in a browser, too.")] = True,
    port: Port = 5173,
    executor: Annotated[
        Executor,
        typer.Option(help="What runs sessions; act: the real workflow files."),
    ] = Executor.LOCAL,
    container: Annotated[
        str, typer.Option(help="The image agents work in, with --executor act.")
    ] = "",
    repo: Repo = HERE,
) -> None:
    """Run all roles until interrupted, with the dashboard."""
    from brat import commands

    sys.exit(commands.up(repo, port if dashboard else None, executor, container))


@task.command("show")
def task_show(
    number: Number, *, convoy: Convoy = None, as_json: Json = False, repo: Repo = HERE
) -> None:
    """Show one task whole."""
    from brat.status import show

    sys.exit(show.task(repo, number, convoy, as_json=as_json))


@task.command("retry")
def task_retry(
    number: Number, convoy: Convoy = None, bot: AtBot = None, repo: Repo = HERE
) -> None:
    """Queue a blocked task again, with all its attempts."""
    from bot.deeds import Deed
    from brat import deciding

    sys.exit(deciding.decided(repo, convoy, Deed(verb="retry", task=number), bot))


@task.command("add")
def task_add(
    text: Annotated[str, typer.Argument(help="As an item of a task list.")],
    convoy: Convoy = None,
    bot: AtBot = None,
    repo: Repo = HERE,
) -> None:
    """Add a task to a convoy."""
    from bot.deeds import Deed
    from brat import deciding

    sys.exit(deciding.decided(repo, convoy, Deed(verb="add", text=text), bot))


@task.command("tell")
def task_tell(
    number: Number,
    text: Annotated[str, typer.Argument(help="What is to be said.")],
    convoy: Convoy = None,
    bot: AtBot = None,
    repo: Repo = HERE,
) -> None:
    """Say something to the task's session, if its engine hears, and to all later."""
    from bot.deeds import Deed
    from brat import deciding

    sys.exit(
        deciding.decided(repo, convoy, Deed(verb="tell", task=number, text=text), bot)
    )


@task.command("drop")
def task_drop(
    number: Number, convoy: Convoy = None, bot: AtBot = None, repo: Repo = HERE
) -> None:
    """Give a task up; what needs it waits for you."""
    from bot.deeds import Deed
    from brat import deciding

    sys.exit(deciding.decided(repo, convoy, Deed(verb="drop", task=number), bot))


@config.command("check")
def config_check(repo: Repo = HERE) -> None:
    """Check .brat/config.toml."""
    from brat import commands

    commands.config_check(repo)


def demo(  # noqa: PLR0913  an option each
    *,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Where it lies; it is left there.")
    ] = None,
    as_json: Json = False,
    chaos: Annotated[bool, typer.Option(help="Kill the bot again and again.")] = False,
    seed: Annotated[int | None, typer.Option(help="Of the chaos.")] = None,
    ui: Annotated[
        bool, typer.Option("--with-ui", help="Show it in a browser, too.")
    ] = False,
    engine: Annotated[str, typer.Option(help="A real CLI: codex, aider ...")] = "shell",
    model: Annotated[
        str | None, typer.Option(help="A real model for it; needs its key.")
    ] = None,
    plan_with: Annotated[
        str | None,
        typer.Option(help="A real CLI plans the issue, which is prose then."),
    ] = None,
) -> None:
    """Show the whole loop on a sample project, on this machine, without an account."""
    from brat.demo import engine as engines, story

    played = engines.Cast(
        engines.chosen(engine, model), engines.planner(plan_with, model)
    )
    sys.exit(
        story.tell(
            directory,
            played,
            as_json=as_json,
            chaos=chaos,
            seed=seed,
            ui=ui,
        )
    )


def _run(role: str, repo: Path, *, once: bool, watch: bool) -> None:
    from brat import commands

    sys.exit(commands.run(role, repo, once=once, watch=watch))
