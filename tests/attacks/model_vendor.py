"""Plays the model's vendor, to see what comes to it past the gateway."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Vendor(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, bytes]] = []
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                calls.append((self.command, self.path, self.rfile.read(size)))
                body = b'{"type": "message", "content": []}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST  # noqa: N815  the library's form

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def vendor() -> Iterator[Vendor]:
    found = Vendor()
    serving = threading.Thread(target=found.serve_forever, name="vendor")
    serving.start()
    try:
        yield found
    finally:
        found.shutdown()
        found.server_close()
        serving.join()
