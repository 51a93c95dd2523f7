"""Starts the session's proxy, reads its messages, and ends it.

The proxy is a child like the agent, so it ends with all that the agent started. It also
ends when the witness is gone, for then its input is closed. Many programs ask for
nothing, so its sockets are made here, and it starts when somebody comes to them.
"""

import os
import secrets
import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from operator import add
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from convoy.events import copied
from convoy.events.session_events import TaskStarted
from grite import outbound
from runner.box.agent_box import NetworkExit
from runner.box.kernel import CLOSED, LOOPBACK, listening, receive_sockets
from runner.box.processes import launched
from runner.engines import engine_events as events, row as rows
from runner.engines.row import Call
from runner.proxy import proxy_protocol as protocol
from runner.proxy.proxy_protocol import ProxyOrder

START_S: Final = 20.0
END_S: Final = 3.0
CHUNK_BYTES: Final = 65_536
_TOLD: Final = 3


def session_order(call: Call, started: TaskStarted) -> ProxyOrder:
    """Return what the proxy of a session's agent does, which may be nothing."""
    row, key, vendor = call.row, call.key, call.vendor
    model = None
    if key and rows.can_be_pointed(vendor):
        server, cut = call.upstream
        named = call.model.partition("[")[0]  # Claude's `[1m]`
        pinned = row.aliases.get(named, named), named.partition("/")[2] or named
        model = protocol.Model(
            dialect=vendor.dialect,
            upstream=server,
            cut=cut,
            account=rows.chatgpt_account(key.value) if vendor.secret else "",
            outside=bool(call.spec.url and not call.endpoint),
            key=key.value,
            bearer=key.variable in row.also,
            token=f"brat-{secrets.token_hex(16)}",
            models=pinned if call.spec.model else (),
            helpers=row.helpers,
            allow=call.spec.allow,
        )
    egress = protocol.reachable_hosts(started.egress, by_default=model is None)
    limits, price = started.limits, started.engine.price
    return ProxyOrder(model=model, limits=limits, price=price, egress=egress)


def _for_java(proxy: str) -> dict[str, str]:
    """Return what leads Maven and Gradle to a proxy: Java reads no HTTPS_PROXY.

    https://docs.oracle.com/en/java/javase/21/core/java-networking.html (proxies)
    """
    where = urlsplit(proxy)
    parts = {
        "Host": where.hostname,
        "Port": where.port,
        "User": where.username,
        "Password": where.password,
    }
    schemes = "http", "https"
    ways = [f"-D{each}.proxy{w}={v}" for each in schemes for w, v in parts.items()]
    ways.append("-Djdk.http.auth.tunneling.disabledSchemes=")  # else none is shown
    asked = "-Daether.connector.http.useSystemProperties=true"  # by Maven from 3.9 on
    said = " ".join((*ways, asked))
    return {"MAVEN_OPTS": said, "GRADLE_OPTS": said}


def unreached(refused: Sequence[str], key: str) -> str:
    """Return a line on what a command could not reach, or "": the last it says.

    Programs quote no more of a refusal than its status, if that.
    """
    told = "; ".join(refused[:_TOLD])
    said = f"cannot reach {told}; `{key}` lists what is allowed"
    return f"\nbrat: {said}\n" if told else ""


class ProxyClient:
    """Listens in the proxy's place, and starts the proxy once somebody has come.

    Where there is nothing to serve, nobody comes.

    Whoever runs the session's programs waits for it (`fileno`, `take`) meanwhile.
    """

    def __init__(
        self, order: ProxyOrder, offered: Mapping[str, str], *, is_boxed: bool
    ) -> None:
        """Listen; `offered` is the job's environment.

        An agent without a box could look into a process that starts beside it. So the
        process then starts first, and closes its memory before it gets its order.

        Raises `OSError` or `RuntimeError`: it does not start.
        """
        self._order = replace(order, token=secrets.token_hex(16))
        self._offered = offered
        count = 0 if order.model is None else 1  # the first is the model's
        made = [listening() for _ in range(count if order.egress is None else 2)]
        self._sockets = [number for number, _ in made]
        self._ports = [port for _, port in made]
        self._handing, self._taking = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for each in (self._taking.fileno(), *self._sockets):
            self._selector.register(each, selectors.EVENT_READ)
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.note: Callable[[events.Said], None] = lambda _said: None
        """Takes each refusal and each cap that is met, and how the network is."""
        self._unread = b""
        self._used: dict[str, events.Usage] = {}
        self._calls = 0
        self.refused: list[str] = []
        """What was asked for and is forbidden; whole after `close`."""
        self.over = False
        """Whether the session must end."""
        self.trouble: events.Error | None = None
        """Why the session must end; None: because the proxy has ended."""
        self.leak = ""
        """Why the agent's network is not closed although it should be."""
        if self._sockets and not is_boxed:
            self._started().settimeout(START_S)
            if not self._started().recv(1):
                raise RuntimeError("the key proxy did not start")

    def pointed(self, call: Call) -> Call:
        model = self._order.model
        if model is None or call.key is None:
            return call
        key = replace(call.key, value=model.token)
        return replace(call, key=key, endpoint=self._url(0))

    def _url(self, which: int) -> str:
        return f"http://{LOOPBACK}:{self._ports[which]}"

    @property
    def counts(self) -> bool:
        """Whether the engine reaches its model through the proxy."""
        return self._order.model is not None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts that the agent may reach besides its model; None: all."""
        return self._order.egress

    def environment(self) -> dict[str, str]:
        """Return the variables that lead the agent's programs to the proxy."""
        if self.hosts is None:
            return {}
        shown = self._url(1).replace("//", f"//brat:{self._order.token}@")
        ways = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), shown)
        ways["NO_PROXY"] = ",".join(outbound.LOCAL_NAMES)
        lower = {name.lower(): value for name, value in ways.items()}
        return {**ways, **lower, **_for_java(shown), "NODE_USE_ENV_PROXY": "1"}

    def way(self) -> NetworkExit:
        if self.hosts is None:
            return ()
        local = protocol.local_services(self.hosts)
        return (self._handing.fileno(), *self._ports, *local)

    def fileno(self) -> int:
        return self._selector.fileno()

    def take(self) -> bool:
        """Do what is to be done first; False: nothing will be any more."""
        ready = {key.fd for key, _ in self._selector.select(0)}
        output = self._process.stdout if self._process else None
        if self._taking.fileno() in ready:
            self._receive()
        elif ready.intersection(self._sockets):
            self.serve()
        elif output and output.fileno() in ready:
            chunk = os.read(output.fileno(), CHUNK_BYTES)
            *lines, self._unread = (self._unread + chunk).split(b"\n")
            for line in lines:
                self._hear(msgspec.json.decode(line, type=protocol.Told))
            if not chunk:
                self._selector.unregister(output)
                self.over = True
                return False
        return True

    def _receive(self) -> None:
        """Take the sockets of the agent's own network, if it has one, and say so."""
        self._selector.unregister(self._taking)
        said, found = receive_sockets(self._taking.detach())
        if said != CLOSED:
            self.leak = said.decode("utf-8", "replace") or "it was not tried"
        self.note(protocol.Network(closed=not self.leak, why=self.leak))
        if found:
            self._close_sockets()
            self._sockets = found
            # Nobody else comes to these.
            self._order = replace(self._order, token="")
            for each in found:
                self._selector.register(each, selectors.EVENT_READ)

    def _close_sockets(self) -> None:
        for each in self._sockets:
            self._selector.unregister(each)
            os.close(each)
        self._sockets = []

    def serve(self) -> None:
        """Let the proxy serve the sockets that there are; safe to call twice."""
        if not self._sockets:
            return
        try:
            line = self._started()
            socket.send_fds(line, [b"!"], self._sockets)
            line.sendall(msgspec.json.encode(self._order) + b"\n")
        except OSError:  # it ended, or cannot start, so nobody may wait for it
            self.over = True
        self._close_sockets()

    def _started(self) -> socket.socket:
        """Return the line to the process, which is started if it was not yet."""
        if self._line is None:
            self._line, theirs = socket.socketpair()
            # NETRC: where a client looks for passwords of its own accord.
            own = {"PATH": os.defpath, "NETRC": os.devnull}
            with theirs:
                self._process = subprocess.Popen(
                    launched("runner.proxy.proxy_main"),
                    cwd="/",
                    env=own | outbound.named_in(self._offered).variables,
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,
                )
            assert self._process.stdout  # noqa: S101  it is piped
            self._selector.register(self._process.stdout, selectors.EVENT_READ)
        return self._line

    def close(self) -> None:
        """End the proxy and read its last messages; safe to call twice."""
        self._handing.close()
        self._taking.close()
        self._close_sockets()
        if self._line:
            self._line.close()
        process, limit = self._process, time.monotonic() + END_S
        if process and process.stdout and not process.stdout.closed:
            while self._selector.select(limit - time.monotonic()) and self.take():
                pass
            process.stdout.close()
            process.kill()
            process.wait()
        self._selector.close()

    def used(self) -> tuple[events.Usage, ...]:
        return tuple(self._used.values())

    def sum(self) -> events.Metered:
        whole = events.Usage()
        for each in self.used():
            whole = whole.with_each(each, add)
        return copied(events.Metered, whole, calls=self._calls)

    def _hear(self, told: protocol.Told) -> None:
        match told:
            case protocol.Usage():
                self._calls += 1
                before = self._used.get(told.model, protocol.Usage())
                self._used[told.model] = told.with_each(before, add)
            case protocol.Refused():
                self.refused.append(told.what)
                self.note(told)
            case protocol.Spent():
                self.over = True
                self.trouble = events.Error(kind="budget", message=told.why)
                self.note(self.trouble)
