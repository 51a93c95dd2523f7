"""`[FD]`, run by `runner.launch`: serve one session's calls, on loopback.

Its errand is one line of JSON on its standard input (`runner.wire.Errand`), what it has
to tell are lines on its standard output. It ends when its input does, so that it never
outlives its witness, or on SIGTERM. With FD, a socket, it is also the agent's way to
other hosts than its model's; through FD come the sockets of the agent's own network, if
it has one (`runner.sandbox`).

A web server takes 0.3 s of processor time to load, as much as all else before an engine
starts. So only the sockets are made at first, without any library, and the rest when
somebody comes.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Sequence

from runner.sandbox import CLOSED
from runner.seal import seal

_HOST = "127.0.0.1"
_BACKLOG = 128
_SOCKETS_MOST = 64
_WHY_BYTES = 1000


def main(argv: Sequence[str]) -> int:
    """Close our memory to others, read the errand, wait for a call, serve."""
    kept = dict(os.environ)  # noqa: TID251  the machine's own way out: see runner.gateway
    seal(os.defpath)
    os.environ.update(kept)  # noqa: TID251  where none but us can read it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the witness decides
    told = [socket.socket(fileno=int(number)) for number in argv]
    sockets = [_listening() for _ in (_HOST, *told)]
    model, *others = (f"http://{_HOST}:{each.getsockname()[1]}" for each in sockets)
    egress = "".join(others)
    os.write(1, f'{{"type":"ready","url":"{model}","egress":"{egress}"}}\n'.encode())
    errand = sys.stdin.buffer.readline()
    while errand:
        waited = [0, *(each.fileno() for each in (*told, *sockets))]
        called, _, _ = select.select(waited, [], [])
        if 0 in called:
            break
        if told and told[0].fileno() in called:
            sockets = _received(told.pop()) or sockets
            continue
        import site

        site.main()  # the libraries that `runner.launch` left out
        from runner.proxy.serving import run

        run(errand, sockets)
        break
    return 0


def _listening() -> socket.socket:
    listening = socket.socket()
    listening.bind((_HOST, 0))
    listening.listen(_BACKLOG)
    return listening


def _received(told: socket.socket) -> list[socket.socket]:
    """Take the sockets of the agent's own network; none: it has none, and that is told.

    Those that we made ourselves are then of no use, and close.
    """
    with told:
        said, fds, _, _ = socket.recv_fds(told, _WHY_BYTES, _SOCKETS_MOST)
    why = (
        "" if said == CLOSED else said.decode("utf-8", "replace") or "it was not tried"
    )
    _tell_enclosed(why)
    return [socket.socket(fileno=each) for each in fds]


def _tell_enclosed(why: str) -> None:
    said = b'{"type":"enclosed"}'
    if why:
        import json

        said = json.dumps({"type": "enclosed", "why": why}).encode()
    os.write(1, said + b"\n")
