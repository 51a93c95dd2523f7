"""A local forge whose sessions are run by act, from the real workflow file."""

import sys
from dataclasses import replace

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.world.github_forge.extension import sessions
from tests.world.plugin import python_with
from tests.world.terminal import Terminal

PACKAGE = {"name": "brat-forge-with-act", "version": "1"}
POINTS = {"brat.forge": {"act": "tests.world.act.extension:by_act"}}
PROGRAM = (sys.executable, "-I", "-m", "tests.world.act")


def with_act(terminal: Terminal) -> Terminal:
    """Let `brat`, typed there, have act run sessions; return the terminal."""
    python = python_with(terminal.home, PACKAGE, POINTS)
    terminal.install("brat", f'exec {python} -I -m brat "$@"\n')
    return terminal


def by_act(service: Service) -> Extension:
    """Have act run the sessions of a forge, and leave other workflows to a bot."""
    starter = service.starter
    starter.how = replace(starter.how, executor=PROGRAM)
    return sessions(service)
