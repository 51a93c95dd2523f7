"""A TCP proxy that breaks connections in the middle of a push, as networks do."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from tests.world.patience import patient

Fault = Literal["answer", "error"]
"""The answer to a push is cut off, or it gets another answer."""
DEADLINE_S = patient(20)
ERROR = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Proxy:
    """Passes everything on, but for pushes while a fault is set."""

    def __init__(self, port: int) -> None:
        self.fault: Fault | None = None
        self.broken = 0
        """Pushes that were broken so far."""
        self.down = False
        """Whether nobody gets through; set by itself after a push was broken."""
        self.goes_down = False
        """Whether it does so."""
        self._target = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._threads = [threading.Thread(target=self._serve, name="proxy")]
        self._threads[0].start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._pass, args=(client,), name="line")
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Take nobody any more, and wait for those who are there."""
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for thread in self._threads:
            thread.join(DEADLINE_S)

    def broke(self) -> None:
        """Count a push that was broken."""
        self.broken += 1
        self.down = self.goes_down

    def _pass(self, client: socket.socket) -> None:
        with client:
            if not self.down:
                with socket.create_connection(("127.0.0.1", self._target)) as server:
                    _Line(self, client, server).talk()


class _Line:
    def __init__(
        self, proxy: Proxy, client: socket.socket, server: socket.socket
    ) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._pushing = False
        for end in (client, server):
            end.settimeout(DEADLINE_S)

    def talk(self) -> None:
        """Pass on what both say until one of them is done."""
        back = threading.Thread(target=self._answers, name="answers")
        back.start()
        with contextlib.suppress(OSError):
            while data := self._client.recv(65536):
                first = data.split(b"\r\n", 1)[0]
                if first.startswith(b"POST ") and b"/git-receive-pack " in first:
                    self._pushing = True
                self._server.sendall(data)
        self._hang_up()
        back.join(DEADLINE_S)

    def _answers(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._server.recv(65536):
                fault = self._proxy.fault
                if self._pushing and fault is not None:
                    self._proxy.broke()
                    if fault == "error":
                        self._client.sendall(ERROR)
                    break
                self._client.sendall(data)
        self._hang_up()

    def _hang_up(self) -> None:
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    """Pass on what comes to the proxy's port, for as long as the block lasts."""
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
