"""`[FD]`, run by `processes.launched`: serve one session's calls, on loopback.

Its order is one line of JSON on its standard input (`proxy_protocol.ProxyOrder`); what
it has to tell are lines on its standard output. It ends on SIGTERM, or when its input
does, so that it never outlives its witness. With FD, a socket, it is also the agent's
way to other hosts; the sockets in an agent's own network come through FD.

A web server takes 0.3 s of processor time to load, as much as all else before an engine
starts. So only the sockets are made at first, and the rest when somebody comes.
"""

import os
import select
import signal
import sys
from collections.abc import Sequence

from runner.box.network_namespace import CLOSED, LOOPBACK, listening, receive_sockets
from runner.box.processes import harden


def main(argv: Sequence[str]) -> int:
    """Close our memory to other processes, read the order, wait for a call, serve."""
    kept = dict(os.environ)  # noqa: TID251  the machine's own way out: see proxy_client
    harden(os.defpath, kept)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the witness decides
    told = [int(number) for number in argv]
    made = [listening() for _ in ("model", *told)]
    sockets = [number for number, _ in made]
    model, *others = (f"http://{LOOPBACK}:{port}" for _, port in made)
    egress = "".join(others)
    os.write(1, f'{{"type":"ready","url":"{model}","egress":"{egress}"}}\n'.encode())
    order, own = sys.stdin.buffer.readline(), sockets
    while order:
        waited = [0, *told, *sockets]
        called, _, _ = select.select(waited, [], [])
        if 0 in called:
            break
        if told and told[0] in called:
            sockets = _received(told.pop(), sockets)
            continue
        import site

        site.main()  # the libraries that `runner.box.processes` left out
        from runner.proxy.egress_server import run_servers

        run_servers(order, sockets, is_shared=sockets is own)
        break
    return 0


def _received(told: int, own: list[int]) -> list[int]:
    """Serve on the sockets of the agent's own network, if it has one, and say so."""
    said, found = receive_sockets(told)
    news = b'{"type":"network"}'
    if said != CLOSED:
        import json

        why = said.decode("utf-8", "replace") or "it was not tried"
        news = json.dumps({"type": "network", "closed": False, "why": why}).encode()
    os.write(1, news + b"\n")
    for each in own if found else ():
        os.close(each)
    return found or own
