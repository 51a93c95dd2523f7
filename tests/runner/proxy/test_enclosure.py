"""A session whose network is closed: real namespaces, and who would leave them."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from convoy.events.session_events import TaskStarted
from runner.box.agent_box import cannot_close
from tests.attacks.environments import PREFIXES
from tests.runner.job import Forge, git
from tests.runner.proxy.test_session import run as run_claude
from tests.runner.proxy.world import Server, server

pytestmark = pytest.mark.skipif(
    bool(why := cannot_close()), reason=f"this machine cannot close a network: {why}"
)

TRIES = """
import json, socket, sys, urllib.request
port, hidden = int(sys.argv[1]), int(sys.argv[2])
found = {}
def tried(name, attempt):
    try:
        found[name] = attempt() or "reached"
    except OSError as error:
        found[name] = type(error).__name__ + " " + str(getattr(error, "code", ""))
def connected(where):
    socket.create_connection(where, 300).close()
def asked(url):
    return urllib.request.urlopen(url, timeout=300).read().decode()
tried("service", lambda: asked(f"http://127.0.0.1:{port}/"))
tried("loopback", lambda: connected(("127.0.0.1", hidden)))
tried("outside", lambda: connected(("192.0.2.1", 443)))
tried("proxied", lambda: asked("http://evil.example/"))
open("found.json", "w").write(json.dumps(found))
"""


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    with server() as one, server() as other:
        yield one, other


def attempt(
    forge: Forge, servers: tuple[Server, Server], *hosts: str, box: str = "on"
) -> TaskStarted:
    """Return a task that tries both servers, with the first one listed."""
    ports = [each.port for each in servers]
    argv = (sys.executable, "-I", "-c", TRIES, *map(str, ports))
    return forge.started(*argv, egress=(f"127.0.0.1:{ports[0]}", *hosts), box=box)


def test_only_what_is_listed_can_be_reached(
    forge: Forge, servers: tuple[Server, Server]
) -> None:
    left = forge.run(attempt(forge, servers, "pypi.org"))

    clone = forge.unpacked(left)
    assert json.loads(git("show", "work:found.json", cwd=clone)) == {
        "service": "hi",
        "loopback": "ConnectionRefusedError ",
        "outside": "OSError ",
        "proxied": "HTTPError 403",
    }
    assert left.told == [
        {"type": "network", "closed": True, "why": ""},
        {"type": "refused", "what": "evil.example:80, which is not listed"},
    ]
    assert left.result["network"] == ""
    assert servers[1].heads == []


@pytest.mark.needs("unshare")
def test_where_the_machine_closes_no_network_it_is_said(
    forge: Forge, servers: tuple[Server, Server]
) -> None:
    started = attempt(forge, servers, box="off")
    page = forge.root / "page.md"
    env = forge.environment(forge.hand_off(started), GITHUB_STEP_SUMMARY=str(page))
    left = forge.run_on(PREFIXES["no namespaces"], env)

    assert left.status == 0, left.err
    shown = json.loads(git("show", "work:found.json", cwd=forge.unpacked(left)))
    assert (shown["service"], shown["loopback"]) == ("hi", "reached")
    assert shown["proxied"] == "HTTPError 403"
    why = os.strerror(28)
    assert left.result["network"] == why
    assert {"type": "network", "closed": False, "why": why} in left.told
    assert "brat could not isolate the agent's network here" in page.read_text()
    assert why in page.read_text()


@pytest.mark.needs("unshare")
@pytest.mark.parametrize("kind", ["net", "pid", "user"])
def test_where_namespaces_are_refused_other_walls_stand(
    forge: Forge, kind: str
) -> None:
    forbid = f'echo 0 > /proc/sys/user/max_{kind}_namespaces; exec "$@"'
    machine = ("unshare", "-Ur", "sh", "-c", forbid, "sh")
    secret = forge.root / "secret"
    secret.write_text("a key")
    command = f"echo x > began; cat {secret} > stolen; ls {forge.root} >> stolen; true"
    started = forge.started("sh", "-c", command, egress=())
    left = forge.run_on(machine, forge.environment(forge.hand_off(started)))

    assert left.result["outcome"] == "uncommitted", left.result["why"]
    walls = left.result["walls"]
    assert (walls["files"], walls["network"]) == ("landlock", "seccomp")
    assert (walls["processes"], walls["syscalls"]) == ("landlock", "seccomp")
    unpacked = forge.unpacked(left)
    assert git("show", "work:began", cwd=unpacked) == "x"
    assert git("show", "work:stolen", cwd=unpacked) == ""


def test_the_network_of_an_engine_with_a_key_proxy_is_closed_by_default(
    forge: Forge,
) -> None:
    left = run_claude(forge, '#!/bin/sh\ncat /proc/net/dev "$BRAT_PROMPT" > seen\n')

    seen = git("show", "work:seen", cwd=forge.unpacked(left))
    assert [line.split(":")[0].strip() for line in seen.splitlines()[2:3]] == ["lo"]
    assert "The network is closed: you can reach only your model." in seen
    assert {"type": "network", "closed": True, "why": ""} in left.told


def test_the_network_of_a_command_is_as_it_is_by_default(forge: Forge) -> None:
    left = forge.sh("readlink /proc/self/ns/net > seen; env | grep -i proxy || true")

    seen = git("show", "work:seen", cwd=forge.unpacked(left))
    assert seen == str(Path("/proc/self/ns/net").readlink())
    assert left.said == ""
