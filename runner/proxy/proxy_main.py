"""Run by `processes.launched`: serve one session's calls, on loopback.

Its standard input is a socket. The sockets to serve come through it, and then its
order, one line of JSON (`proxy_protocol.ProxyOrder`); what it has to tell are lines on
its standard output. It ends on SIGTERM, or when its input does, so that it never
outlives its witness.

A web server takes 0.3 s of processor time to load. So what is loaded before the order
comes is only what closes this process.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence

from runner.box.processes import harden

_MOST = 64


def main(_argv: Sequence[str]) -> int:
    """Close our memory to other processes, say so, wait for the order, and serve."""
    kept = dict(os.environ)  # noqa: TID251  the machine's own way out: see proxy_client
    harden(os.defpath, kept)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the witness decides
    with socket.socket(fileno=os.dup(0)) as line:
        line.sendall(b"!")
        told, sockets, _, _ = socket.recv_fds(line, 1, _MOST)
    order = sys.stdin.buffer.readline() if told else b""
    if order:
        import site

        site.main()  # the libraries that `runner.box.processes` left out
        import asyncio

        from runner.proxy.egress_server import serve

        asyncio.run(serve(order, sockets))
    return 0
