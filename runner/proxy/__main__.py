"""`python -I -m runner.proxy`: serve one session's calls of its model, on loopback.

Its errand is one line of JSON on its standard input (`runner.wire.Errand`), what it has
to tell are lines on its standard output. It ends when its input does, so that it never
outlives its witness, or on SIGTERM.

A web server takes 0.3 s of processor time to load, more than all else before an engine
starts. So only the socket is made at first, and the rest when somebody comes.
"""

import os
import select
import signal
import socket
import sys

from runner.seal import seal

_HOST = "127.0.0.1"
_BACKLOG = 128


def main() -> int:
    """Close our memory to others, read the errand, wait for a call, serve."""
    kept = dict(os.environ)  # noqa: TID251  the machine's own way out: see runner.gateway
    seal(os.defpath)
    os.environ.update(kept)  # noqa: TID251  where none but us can read it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the witness decides
    with socket.socket() as listening:
        listening.bind((_HOST, 0))
        listening.listen(_BACKLOG)
        url = f"http://{_HOST}:{listening.getsockname()[1]}"
        os.write(1, b'{"type":"ready","url":"%b"}\n' % url.encode())
        errand = sys.stdin.buffer.readline()
        called, _, _ = select.select([listening.fileno(), 0], [], [])
        if errand and listening.fileno() in called:
            from runner.proxy.serving import run

            run(errand, listening)
    return 0


if __name__ == "__main__":
    sys.exit(main())
