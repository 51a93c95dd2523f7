"""The forge as a program: it says where it is, and never outlives its parent."""

import signal
import socket
import sys
from pathlib import Path

import psutil
import pytest

from tests.world.program import DEADLINE_S, ran, serving_program

pytestmark = pytest.mark.layer("landing")


def test_it_listens_on_loopback_only_and_ends_on_sigterm(tmp_path: Path) -> None:
    with serving_program(tmp_path / "forge") as program:
        sockets = psutil.Process(program.process.pid).net_connections("inet")

        listens = {(one.laddr.ip, one.status) for one in sockets}
        assert listens == {("127.0.0.1", "LISTEN")}
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(DEADLINE_S) == 0


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        forge = (sys.executable, "-I", "-m", "brat.forge")
        ended = ran((*forge, "--dir", tmp_path / "forge", "--port", port))

    assert ended.returncode == 1
    assert "brat.forge: " in ended.stderr
    assert "in use" in ended.stderr


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    with serving_program(tmp_path / "forge") as program:
        assert program.close_input() == 0, "as when its parent is gone"


FORKED = """
import sys
from pathlib import Path
import httpx, psutil
from brat.local.forge_process import forge, forked_ahead
here, me = Path(sys.argv[1]), psutil.Process()
with forked_ahead():
    with forge(here / "forge", 0, log=here / "log") as (url, ours):
        assert me.children()[0].pid == ours.pid
        assert psutil.Process(ours.pid).cmdline() == me.cmdline()
        assert httpx.get(url, trust_env=False).status_code
    assert not me.children()
with forked_ahead():
    assert len(me.children()) == 1
assert not me.children()
"""


def test_it_begins_in_a_fork_that_ends_where_nobody_needs_it(tmp_path: Path) -> None:
    ran((sys.executable, "-c", FORKED, tmp_path), check=True)
