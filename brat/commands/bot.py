"""The words for a bot on a forge: serve, manifest, simulate."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from brat.commands.options import HERE, Repo, group
from brat.terminal.console import LogForm

bot: Final = group("The bot on GitHub: make its App, serve it, try a delivery.")

SettingsFile = Annotated[
    Path, typer.Argument(help="JSON, as brat bot manifest writes it.")
]


def add_to(app: typer.Typer) -> None:
    """Add these words to the command line."""
    app.add_typer(bot, name="bot")


@bot.command("serve")
def serve(
    settings: SettingsFile = Path("bot.json"),
    *,
    poll: Annotated[
        bool, typer.Option("--poll", help="No public address: look, and hear nothing.")
    ] = False,
    log: Annotated[
        LogForm, typer.Option("--log", help="How its log on stderr looks.")
    ] = LogForm.TEXT,
) -> None:
    """Serve every repository that the settings name, until stopped."""
    from brat.commands import serve_bot

    serve_bot.serve(settings, poll=poll, form=log)


@bot.command("manifest")
def manifest(  # noqa: PLR0913  an option each
    folder: Annotated[Path, typer.Option(help="Where key and settings go.")] = HERE,
    *,
    name: Annotated[str, typer.Option(help="Of the App.")] = "brat",
    org: Annotated[str, typer.Option(help="Whose it is; you if left out.")] = "",
    url: Annotated[
        str, typer.Option(help="Where GitHub can reach the bot; none: it polls.")
    ] = "",
    dashboard: Annotated[
        str,
        typer.Option(help="Where people reach the dashboard; as --url if left out."),
    ] = "",
    host: Annotated[
        str, typer.Option(help="Of GitHub Enterprise Server.")
    ] = "github.com",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Of the page.")] = 0,
) -> None:
    """Make a GitHub App by one click on a page of this machine."""
    from bot.serving.github_app import dashboard_at
    from brat.commands import serve_bot

    wish = serve_bot.wish_at(
        host,
        folder=folder,
        name=name,
        organisation=org,
        public_url=url,
        dashboard_url=dashboard_at(url, dashboard),
    )
    serve_bot.manifest(wish, port)


@bot.command("simulate")
def simulate(
    delivery: Annotated[Path, typer.Argument(help="A payload, as JSON.")],
    *,
    event: Annotated[str, typer.Option(help="What X-GitHub-Event said.")] = "",
    label: Annotated[str, typer.Option(help="The one that starts.")] = "brat",
    app: Annotated[str, typer.Option(help="The App's name.")] = "brat",
    repo: Repo = HERE,
) -> None:
    """Say what a delivery would lead to; nothing is asked or done."""
    from brat.commands import serve_bot

    sys.exit(serve_bot.simulate(delivery, event=event, label=label, app=app, repo=repo))
