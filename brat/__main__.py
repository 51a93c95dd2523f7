"""The command `brat`: what people type. Exit status 2 is for bad usage, 1 for no."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from brat.console import fail, say
from grite.errors import BratError

app: Final = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Run fleets of coding agents on one repository.",
)
mayor: Final = typer.Typer(no_args_is_help=True, help="Plan: one issue, one convoy.")
witness: Final = typer.Typer(no_args_is_help=True, help="Run agents on ready tasks.")
refinery: Final = typer.Typer(no_args_is_help=True, help="Merge what CI finds green.")
deacon: Final = typer.Typer(no_args_is_help=True, help="Sweep up what is left over.")
task: Final = typer.Typer(no_args_is_help=True, help="What a person decides of a task.")
config: Final = typer.Typer(no_args_is_help=True, help="The configuration.")
for name, group in (
    ("mayor", mayor),
    ("witness", witness),
    ("refinery", refinery),
    ("deacon", deacon),
    ("task", task),
    ("config", config),
):
    app.add_typer(group, name=name)

Repo = Annotated[Path, typer.Option(help="A folder of the git repository.")]
Once = Annotated[bool, typer.Option("--once", help="One tick, then end.")]
Watch = Annotated[bool, typer.Option("--watch", help="Stay, and go on.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
HERE: Final = Path()


@app.command()
def init(repo: Repo = HERE) -> None:
    """Let brat know this repository; nothing in your checkout changes."""
    from brat import commands

    commands.init(repo)


@mayor.command("start")
def mayor_start(
    task: Annotated[str, typer.Option(help="What is to be done; may be a task list.")],
    *,
    headless: Annotated[bool, typer.Option(help="Run all of it, then end.")] = False,
    timeout: Annotated[str, typer.Option(help="With --headless: 30m, 2h, 90s.")] = "2h",
    repo: Repo = HERE,
) -> None:
    """Open an issue with the label `brat` and plan its convoy."""
    from brat import commands

    sys.exit(commands.mayor_start(repo, task, headless=headless, timeout=timeout))


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


@app.command()
def up(repo: Repo = HERE) -> None:
    """Run all roles until interrupted."""
    _run(None, repo, once=False, watch=True)


@app.command()
def status(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show every convoy and its tasks."""
    from brat import commands

    sys.exit(commands.status(repo, as_json=as_json))


Number = Annotated[int, typer.Argument(help="The task's number in its convoy.")]
Convoy = Annotated[
    str | None, typer.Option("--convoy", help="Its convoy; the live one if left out.")
]


@task.command("retry")
def task_retry(number: Number, convoy: Convoy = None, repo: Repo = HERE) -> None:
    """Queue a blocked task again, with all its attempts."""
    from brat import commands

    sys.exit(commands.retry(repo, convoy, number))


@task.command("drop")
def task_drop(number: Number, convoy: Convoy = None, repo: Repo = HERE) -> None:
    """Give a task up; what needs it waits for you."""
    from brat import commands

    sys.exit(commands.drop(repo, convoy, number))


@config.command("check")
def config_check(repo: Repo = HERE) -> None:
    """Check .brat/config.toml."""
    from brat import commands

    commands.config_check(repo)


@app.command()
def demo(
    *,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Where it lies; it is left there.")
    ] = None,
    as_json: Json = False,
    chaos: Annotated[bool, typer.Option(help="Kill the bot again and again.")] = False,
    seed: Annotated[int | None, typer.Option(help="Of the chaos.")] = None,
) -> None:
    """Show the whole loop on a sample project, on this machine, without an account."""
    from brat.demo import story

    sys.exit(story.tell(directory, as_json=as_json, chaos=chaos, seed=seed))


def _run(role: str | None, repo: Path, *, once: bool, watch: bool) -> None:
    from brat import commands

    sys.exit(commands.run(role, repo, once=once, watch=watch))


def main() -> None:
    """Run the command line; an expected error is one sentence on stderr and 1."""
    try:
        app()
    except BratError as error:
        fail(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


if __name__ == "__main__":
    main()
