"""A port that nobody else gets while its server is away."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """Give a port on loopback that refuses connections until a server listens there.

    It is bound, but does not listen: a server that may reuse addresses, as all of ours
    do, can have it, and nobody who asks for any port.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
