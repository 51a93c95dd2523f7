"""`brat bot`: serve it, make its App; `brat doctor --github`."""

import asyncio
import gc
import signal
from pathlib import Path
from typing import Any

from bot.door.listening import listening
from bot.door.webhooks import WEBHOOK_PATH
from bot.forge import transport
from bot.forge.transport import DEADLINE_S
from bot.serving import github_app
from bot.serving.examination import examined
from bot.serving.host import hosted
from bot.serving.hosted_dashboard import opened_dashboard
from bot.settings.bot_settings import ServiceSettings, read_settings_as
from bot.settings.hosts import api_url_of
from brat.doctor import say_finding
from brat.repository import workflow_files
from brat.terminal.console import Tell, say, write
from brat.terminal.service_log import journal


def serve(settings: Path, form: str, *, poll: bool) -> None:
    """Serve until SIGTERM or Ctrl-C; `form` is the log's."""
    hosting = read_settings_as(ServiceSettings, settings)
    asyncio.run(_serve(hosting, journal(as_json=form == "json"), poll=poll))


async def _serve(hosting: ServiceSettings, tell: Tell, *, poll: bool) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with (
        hosted(hosting, tell, poll=poll) as host,
        opened_dashboard(host) as dashboard,
    ):
        if host.port:
            tell(f"deliveries: http://{hosting.address}:{host.port}{WEBHOOK_PATH}")
        if dashboard:
            where = f"http://{hosting.address}:{dashboard}"
            tell(f"dashboard: {where} (public address: {hosting.dashboard_url})")
        if host.metrics_port:
            tell(f"metrics: http://{hosting.address}:{host.metrics_port}/metrics")
        gc.freeze()  # these objects stay: the collector can skip them
        tell(f"to stop everything at once: touch {hosting.stop_file}")
        await ended.wait()
    tell("stopped; unfinished work continues at the next start")


def manifest(port: int, host: str, dashboard: str, **told: Any) -> None:  # noqa: ANN401  a wish's fields
    """Serve the page until the App is made and its settings are saved.

    `host` is github.com or an enterprise server.
    """
    wish = github_app.AppRequest(
        web_url=f"https://{host}",
        api_url=api_url_of(host),
        dashboard_url=github_app.dashboard_at(told["public_url"], dashboard),
        **told,
    )
    github_app.check_free(wish.folder)
    asyncio.run(_manifest(wish, port))


async def _manifest(wish: github_app.AppRequest, port: int) -> None:
    bound = 0
    async with transport.async_client(DEADLINE_S) as client:
        maker = github_app.AppPages(
            wish=wish, client=client, address=lambda: f"http://127.0.0.1:{bound}"
        )
        async with listening(maker.application(), "127.0.0.1", port) as bound:
            say("open this address in a browser; it works only once:")
            write(maker.url)
            made = await maker.made
    poll = "" if wish.public_url else " --poll"
    say(f"created {made.slug}; its key is in {wish.folder}, readable only by you")
    say(
        "next: install the App, then run brat bot serve "
        f"{wish.folder / github_app.SETTINGS_FILE}{poll}"
    )
    if wish.dashboard_url:
        where = f"{wish.dashboard_url} once your proxy forwards to it"
        say(f'people can sign in at {where}; see "The dashboard" in docs/hosting.md')


def examine(file: Path, *, fix: bool) -> int:
    """Look at the App and its repositories; return 1 when there is a fault."""
    hosting = read_settings_as(ServiceSettings, file)

    async def looked() -> int:
        faults = 0
        async for found in examined(hosting, workflow_files.is_ours, fix=fix):
            faults += say_finding(found).grade == "fault"
        return 1 if faults else 0

    return asyncio.run(looked())
