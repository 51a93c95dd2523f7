"""Servers that an agent would like to reach, and the real proxy on its way there."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from grite.outbound import proxy_word
from runner.proxy.proxy_protocol import ProxyOrder
from runner.session.proxy_client import ProxyClient
from tests.world.patience import patient

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
DEADLINE_S = patient(20)


class Server:
    """Keeps what it was asked first on each connection, and answers."""

    def __init__(self, answer: bytes = ANSWER) -> None:
        self.heads: list[bytes] = []
        self._answer = answer
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, name="server")
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            with client:
                client.settimeout(DEADLINE_S)
                self.heads.append(_whole(client))
                client.sendall(self._answer)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._thread.join(DEADLINE_S)


def _whole(client: socket.socket) -> bytes:
    """Read a request, with its body if it has one."""
    asked = client.recv(65536)
    size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", asked)
    while size and len(asked.partition(b"\r\n\r\n")[2]) < int(size[1]):
        asked += client.recv(65536)
    return asked


@contextmanager
def server(answer: bytes = ANSWER) -> Iterator[Server]:
    found = Server(answer)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def proxy(*hosts: str, **offered: str) -> Iterator[tuple[ProxyClient, str]]:
    """Start the proxy as the witness does; give it and its address for the session."""
    gateway = ProxyClient(ProxyOrder(egress=hosts), offered, is_boxed=False)
    gateway.serve()
    try:
        yield gateway, gateway.environment()["HTTPS_PROXY"]
    finally:
        gateway.close()


def asked(proxy: str, line: str, *headers: str) -> bytes:
    """Return all that comes after a request, and after what is tunnelled: nothing."""
    head = (line, *headers, f"Proxy-Authorization: {proxy_word(proxy)}", "", "")
    where = "127.0.0.1", urlsplit(proxy).port
    with socket.create_connection(where, DEADLINE_S) as client:
        client.sendall("\r\n".join(head).encode("latin-1"))
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))
