"""The words of patterns: workflow list, show, run."""

import sys
from typing import Annotated, Final

import typer

from brat.commands.options import HERE, Json, Repo, group

workflow: Final = group("Patterns: templates that plan a convoy (docs/workflows.md).")

Name = Annotated[str, typer.Argument(help="The pattern; see brat workflow list.")]


def add_to(app: typer.Typer) -> None:
    """Add all of these words to the command line."""
    app.add_typer(workflow, name="workflow")


@workflow.command("list")
def workflow_list(*, as_json: Json = False, repo: Repo = HERE) -> None:
    """Show every pattern, brat's own and the repository's."""
    from brat.commands import pattern_runs

    sys.exit(pattern_runs.show_all(repo, as_json=as_json))


@workflow.command("show")
def workflow_show(name: Name, *, as_json: Json = False, repo: Repo = HERE) -> None:
    """Print one pattern's file, to read or to begin your own with."""
    from brat.commands import pattern_runs

    sys.exit(pattern_runs.show(repo, name, as_json=as_json))


@workflow.command("run")
def workflow_run(
    name: Name,
    *,
    task: Annotated[str, typer.Option(help="What is to be done: the issue's text.")],
    value: Annotated[
        list[str] | None, typer.Option("--value", "-v", help="An input: name=value.")
    ] = None,
    headless: Annotated[bool, typer.Option(help="Run all of it, then end.")] = False,
    timeout: Annotated[
        str | None, typer.Option(help="With --headless: 30m, 90s; 2h if not given.")
    ] = None,
    repo: Repo = HERE,
) -> None:
    """Open an issue and plan its convoy by this pattern."""
    from brat.commands import pattern_runs

    sys.exit(
        pattern_runs.run(
            repo, name, task, value or (), headless=headless, timeout=timeout
        )
    )
