"""A local forge whose sessions are run by act, from the real workflow file."""

import sys
from dataclasses import replace
from pathlib import Path

from msgspec import json

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.world.github_forge.extension import sessions
from tests.world.plugin import python_with
from tests.world.terminal import Terminal

PACKAGE = {"name": "brat-forge-with-act", "version": "1"}
POINTS = {"brat.forge": {"act": "tests.world.act.extension:by_act"}}
PROGRAM = (sys.executable, "-I", "-m", "tests.world.act")
_TOLD = "act.json"


def with_act(terminal: Terminal, image: str = "", docker_host: str = "") -> Terminal:
    """Let `brat`, typed there, have act run sessions; return the terminal.

    `image` is what jobs with a container run in; empty: the machine. `docker_host` is
    the address of Docker for it.
    """
    told = (image, docker_host) if image else ()
    (terminal.home / _TOLD).write_bytes(json.encode(told))
    python = python_with(terminal.home, PACKAGE, POINTS)
    terminal.install("brat", f'exec {python} -I -m brat "$@"\n')
    return terminal


def by_act(service: Service) -> Extension:
    """Have act run the sessions of a forge, and leave other workflows to a bot."""
    told = json.decode((Path.home() / _TOLD).read_bytes(), type=tuple[str, ...])
    starter = service.starter
    starter.how = replace(starter.how, executor=(*PROGRAM, *told))
    return sessions(service)
