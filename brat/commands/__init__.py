"""The command line. What a word does is loaded when it is typed, so help is quick."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from brat import demo as demo, report as report
    from brat.commands import (
        decisions as decisions,
        init_repository as init_repository,
        mcp_server as mcp_server,
        print_diff as print_diff,
        print_views as print_views,
        run_loop as run_loop,
        serve_bot as serve_bot,
        setup as setup,
        start_convoy as start_convoy,
    )
    from brat.status import (
        dashboard_server as dashboard_server,
        session_views as session_views,
    )

_ELSEWHERE: Final = {
    "report": "brat.report",
    "demo": "brat.demo",
    "dashboard_server": "brat.status.dashboard_server",
    "session_views": "brat.status.session_views",
}


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(name)
    with _loading():
        return import_module(_ELSEWHERE.get(name, f"{__name__}.{name}"))


@contextmanager
def _loading() -> Iterator[None]:
    """Load modules in this block; they make no garbage, and stay.

    aiohttp reads all of the system's certificates meanwhile, 0.05 s, for connections of
    a kind that brat makes none of: each of ours names the authorities that it trusts.
    """
    env, name = os.environ, "SSL_CERT_FILE"  # noqa: TID251  OpenSSL reads it there
    before = env.get(name)
    env[name] = os.devnull
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        del env[name]
        if before is not None:
            env[name] = before
