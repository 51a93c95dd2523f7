"""The box that a CI job's command runs in: agents wrote what it tests.

It is a session's box (`runner.box.agent_box`): of this machine the command sees the
system's programs, its checkout, the objects that this borrows, and a home and a
temporary folder of its own. It reaches the hosts of a list.
"""

import os
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from brat.forge.resources.repository_resource import Ci
from brat.forge.service import programs
from brat.forge.service.ci_checkout import WORK
from grite import git, outbound
from runner.box import agent_box, surroundings
from runner.box.agent_box import Box, BoxReport, Room, boxed
from runner.box.surroundings import Sight
from runner.proxy.proxy_protocol import REGISTRIES, ProxyOrder, reachable_hosts
from runner.session.proxy_client import ProxyClient

_HOME, _TEMPORARY = "home", "tmp"


_OF_GIT: Final = ("user.name", "user.email", "init.defaultBranch")
"""What tests that use git take for granted where a person has configured it."""


class CiBox:
    """One job's box. Its methods wait for processes: call them in a thread."""

    def __init__(self, settings: Ci, job: Path, borrowed: Path, forge: Path) -> None:
        """Describe the box of a job.

        Args:
            settings: the command, its hosts, and whether there is a box at all.
            job: the job's folder, with its checkout.
            borrowed: the folder of objects that the checkout borrows.
            forge: the forge's own folder, of which the command sees nothing else.
        """
        self._settings = settings
        self._job = job
        own = programs.plain_environment()
        sight = Sight(
            path=own["PATH"],
            home=os.path.expanduser("~"),  # noqa: PTH111  also where there is none
            tools=surroundings.own_tool_variables(),
            shown=(borrowed,),
            hidden=(forge,),
        )
        home, temporary = job / _HOME, job / _TEMPORARY
        boxed_in = settings.box == "on"
        self._room = Room(job / WORK, home, temporary, sight, is_boxed=boxed_in)
        self._stack = ExitStack()
        self._box: Box | None = None
        # A job that is cancelled cannot stop the thread that opens its box: `close`
        # waits for it, and it opens nothing after a `close`.
        self._lock = threading.Lock()
        self._is_closed = False
        self.argv: tuple[str, ...] = ("sh", "-c", settings.command or "true")
        self.fds: tuple[int, ...] = ()
        own |= surroundings.own_sources(own, job / WORK)
        self.env = own | {"HOME": str(home), "TMPDIR": str(temporary), "CI": "true"}

    def open(self) -> Self:
        """Make the folders, the way to its hosts and the box.

        Raises:
            OSError: they cannot be made.
            RuntimeError: the proxy to its hosts does not start.
        """
        with self._lock:
            if not self._is_closed:
                self._open()
        return self

    def _open(self) -> None:
        for each in (self._room.home, self._room.temporary):
            each.mkdir()
        (self._room.home / ".gitconfig").write_text(_identity(), encoding="utf-8")
        hosts = reachable_hosts(self._settings.egress, by_default=False)
        if self._settings.egress is None:
            hosts = REGISTRIES
        way = None
        if hosts is not None and self._room.is_boxed:
            offered = outbound.here().variables
            proxy = ProxyClient(ProxyOrder(egress=hosts), offered)
            self._stack.callback(proxy.close)
            way = proxy.way()
            self.env |= proxy.environment()
        self._box = self._stack.enter_context(boxed(self.argv, self._room, way))
        if self._box is not None:
            self.argv, self.fds = self._box.argv, self._box.fds

    def close(self) -> BoxReport:
        """Take the folders back, after the command's end; safe to call twice.

        Returns:
            What the box reports; the second time nothing.
        """
        with self._lock:
            self._is_closed = True
            box, self._box = self._box, None
        try:
            return box.report() if box else BoxReport()
        finally:
            self._stack.close()
            if os.getuid() == 0:
                agent_box.give_folders(self._room.owned(), os.getuid())


def _identity() -> str:
    """Return the person's name and address as they have told git, for its own file."""
    env = {"GIT_CONFIG_GLOBAL": os.path.expanduser("~/.gitconfig")}  # noqa: PTH111
    found = []
    for key in _OF_GIT:
        told = git.run(["config", "--global", "--get", key], env=env, check=False)
        value = told.stdout.decode(errors="replace").rstrip("\n")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        section, _, name = key.partition(".")
        found.append(f'[{section}]\n\t{name} = "{quoted}"\n' if value else "")
    return "".join(found)
