"""Sockets: daemons, loopback, datagrams, and the proxy's own port."""

import os
import re
import socket
from base64 import b64encode
from http.client import HTTPConnection
from pathlib import Path

from tests.attacks.evil.targets import Targets, attempt, first_won

WAIT_S = 2.0
NAMESERVER = re.compile(r"^nameserver\s+(\d+\.\d+\.\d+\.\d+)", re.MULTILINE)
VSOCK_OF_THE_HOST = 2


def _unix(address: str) -> str:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(WAIT_S)
        line.connect(address)
        return f"connected to {address!r}"


@attempt
def the_socket_of_docker(at: Targets) -> str:
    names = at.socket, "/var/run/docker.sock", "/run/docker.sock"
    return first_won(_unix, names)


@attempt
def an_abstract_socket(at: Targets) -> str:
    return _unix("\0" + at.abstract)


@attempt
def servers_on_loopback(at: Targets) -> str:
    def reached(address: tuple[str, int]) -> str:
        with socket.create_connection(address, WAIT_S) as line:
            return f"connected to {line.getpeername()}"

    ports = at.doors.values()
    hosts = "127.0.0.1", "localhost"
    return first_won(reached, [(host, port) for port in ports for host in hosts])


@attempt
def servers_on_loopback_by_a_twin(at: Targets) -> str:
    """Listen at their ports on the other loopback, to be taken for them."""
    for port in at.doors.values():
        with socket.socket(socket.AF_INET6) as own:
            own.bind(("::1", port))
            own.listen()
            with socket.create_connection(("127.0.0.1", port), WAIT_S) as line:
                return f"connected to {line.getpeername()}"
    return ""


@attempt
def servers_on_loopback_by_the_proxy(at: Targets) -> str:
    way = re.search(r"//([^@]*)@.*:(\d+)/?$", os.environ.get("HTTPS_PROXY", ""))
    if way is None:
        raise ConnectionError(111, "there is no proxy")
    shown = {"Proxy-Authorization": f"Basic {b64encode(way[1].encode()).decode()}"}

    def reached(url: str) -> str:
        line = HTTPConnection("127.0.0.1", int(way[2]), timeout=WAIT_S)
        line.request("GET", url, headers=shown)
        return f"the proxy: {url}" if at.holds(line.getresponse().read()) else ""

    hosts = "127.0.0.1", "localhost", "0.0.0.0", "[::1]", "2130706433"  # noqa: S104  asked for, not bound
    asked = [f"http://{host}:{port}/" for port in at.doors.values() for host in hosts]
    return first_won(reached, asked)


@attempt
def datagrams(at: Targets) -> str:
    """Send one to loopback; whether it came is looked at outside."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(b"evil", ("127.0.0.1", at.udp))
    return ""


@attempt
def questions_to_the_name_server(at: Targets) -> str:
    question = (
        bytes.fromhex("0001010000010000000000000465766c6c0474657374000001") + b"\1"
    )
    told = [*NAMESERVER.findall(Path("/etc/resolv.conf").read_text()), "192.0.2.1"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        for each in told:
            line.sendto(question, (each, 53))
            return f"asked {each}"
    return ""


@attempt
def the_proxy_s_port(at: Targets) -> str:
    """Listen where the proxy does, to be taken for it."""
    for name in ("ANTHROPIC_BASE_URL", "HTTPS_PROXY"):
        found = re.search(r":(\d+)/?$", os.environ.get(name, ""))
        if found is None:
            continue
        for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104  it is an attack
            with socket.socket() as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                line.bind((host, int(found[1])))
                line.listen()
                return f"listens at {host}:{found[1]}"
    raise OSError(2, "there is no proxy")


@attempt
def the_machine_s_hypervisor(at: Targets) -> str:
    """Speak to it past every network: vsock knows no network namespace."""
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as line:
        line.settimeout(WAIT_S)
        try:
            line.connect((VSOCK_OF_THE_HOST, 1))
        except ConnectionResetError:
            return "the hypervisor answered"
        except TimeoutError:
            return "waited for the hypervisor"
    return "connected to the hypervisor"
