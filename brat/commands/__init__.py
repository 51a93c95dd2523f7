"""The command line. What a word does is loaded when it is typed, so help is quick."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")
