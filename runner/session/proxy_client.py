"""Starts the session's proxy, reads its messages, and ends it.

The proxy is a child like the agent, so it ends with all that the agent started. It also
ends when the witness is gone, for then its input is closed.
"""

import os
import secrets
import select
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from operator import add
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from grite import outbound
from runner import engines
from runner.box.agent_box import NetworkExit
from runner.box.processes import launched
from runner.engines import engine_events as events, row as rows
from runner.engines.row import Call
from runner.inputs.job_inputs import Inputs
from runner.proxy import proxy_protocol as protocol
from runner.proxy.proxy_protocol import ProxyOrder

START_S: Final = 20.0
END_S: Final = 3.0
CHUNK_BYTES: Final = 65_536
_TOLD: Final = 3


def session_proxy(
    inputs: Inputs, started: TaskStarted
) -> AbstractContextManager["ProxyClient | None"]:
    """Start a session's proxy, which the block's end closes; None: it needs none."""
    order = _order(inputs, started)
    return closing(ProxyClient(order, inputs.offered)) if order else nullcontext()


def cannot_close() -> str:
    """Return why this machine cannot close an agent's network, or "" if it can."""
    done = subprocess.run(
        launched("runner.box.network_namespace"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )
    return done.stdout or done.stderr


def _order(inputs: Inputs, started: TaskStarted) -> ProxyOrder | None:
    try:
        row = engines.found(started.engine.type)
    except ValueError:
        return None  # reported when the engine is to start
    call = Call(started.engine, Path(), Path(), endpoint=inputs.endpoint)
    key, vendor = rows.key_for(row, call, inputs.offered), rows.vendor_of(row, call)
    model = None
    if vendor is not None and key is not None and rows.can_be_pointed(vendor):
        server, cut = rows.upstream(vendor, call)
        model = protocol.Model(
            dialect=vendor.dialect,
            upstream=server,
            cut=cut,
            account=rows.chatgpt_account(key.value) if vendor.secret else "",
            outside=bool(call.spec.url and not call.endpoint),
            key=key.value,
            bearer=key.variable in row.also,
            token=f"brat-{secrets.token_hex(16)}",
            models=rows.pinned_models(row, call),
            helpers=row.helpers,
            allow=call.spec.allow,
        )
    egress = protocol.reachable_hosts(started.egress, by_default=model is None)
    if model is None and egress is None:
        return None
    limits = started.limits
    caps = protocol.Caps(
        calls=limits.model_calls,
        tokens=limits.tokens,
        usd=limits.usd,
        price=started.engine.price,
    )
    return ProxyOrder(model=model, caps=caps, egress=egress)


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
    def __init__(self, order: ProxyOrder, offered: Mapping[str, str]) -> None:
        """Start the proxy; `offered` is the job's environment."""
        self._order = order = replace(order, token=secrets.token_hex(16))
        self._url = self._egress = ""
        self._note: Callable[[events.Said], None] = lambda _said: None
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
        self._line, theirs = socket.socketpair()
        self._handing, taking = socket.socketpair()
        # NETRC: where a client looks for passwords of its own accord.
        own = {"PATH": os.defpath, "NETRC": os.devnull}
        fds = () if order.egress is None else (taking.fileno(),)
        with theirs, taking:
            self._process = subprocess.Popen(
                [*launched("runner.proxy.proxy_main"), *map(str, fds)],
                cwd="/",
                env=own | outbound.named_in(offered).variables,
                pass_fds=fds,
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        self._line.sendall(msgspec.json.encode(order) + b"\n")

    def pointed(self, call: Call) -> Call:
        """Return the call with the proxy as its vendor, once that is ready."""
        self._await_ready()
        model = self._order.model
        if model is None or call.key is None:
            return call
        key = replace(call.key, value=model.token)
        return replace(call, key=key, endpoint=self._url)

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
        self._await_ready()
        shown = self._egress.replace("//", f"//brat:{self._order.token}@")
        ways = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), shown)
        ways["NO_PROXY"] = ",".join(outbound.LOCAL_NAMES)
        lower = {name.lower(): value for name, value in ways.items()}
        return {**ways, **lower, **_for_java(shown), "NODE_USE_ENV_PROXY": "1"}

    def way(self) -> NetworkExit | None:
        """Return the only way out of the agent's network; None: it is not closed."""
        if self.hosts is None:
            return None
        self._await_ready()
        own = (int(url.rpartition(":")[2]) for url in (self._url, self._egress))
        return NetworkExit(
            self._handing.fileno(), (*own, *protocol.local_services(self.hosts))
        )

    def listen(self, note: Callable[[events.Said], None]) -> None:
        """Call `note` with each refusal and each cap that is met."""
        self._note = note

    def fileno(self) -> int:
        return self._process.stdout.fileno() if self._process.stdout else -1

    def take(self) -> bool:
        chunk = os.read(self.fileno(), CHUNK_BYTES)
        *lines, self._unread = (self._unread + chunk).split(b"\n")
        for line in lines:
            self._hear(msgspec.json.decode(line, type=protocol.Told))
        self.over = self.over or not chunk
        return bool(chunk)

    def close(self) -> None:
        """End the proxy and read its last messages; safe to call twice."""
        self._line.close()
        self._handing.close()
        limit = time.monotonic() + END_S
        if self._process.stdout is not None and not self._process.stdout.closed:
            while self._is_readable(limit) and self.take():
                pass
            self._process.stdout.close()
        self._process.kill()
        self._process.wait()

    def used(self) -> tuple[events.Usage, ...]:
        return tuple(self._used.values())

    def sum(self) -> events.Metered:
        return events.Metered(
            calls=self._calls,
            input_tokens=sum(each.input_tokens for each in self.used()),
            cached_tokens=sum(each.cached_tokens for each in self.used()),
            output_tokens=sum(each.output_tokens for each in self.used()),
        )

    def _await_ready(self) -> None:
        limit = time.monotonic() + START_S
        while not self._url:
            if not (self._is_readable(limit) and self.take()):
                raise RuntimeError("the key proxy did not start")

    def _is_readable(self, limit: float) -> bool:
        left = max(0.0, limit - time.monotonic())
        return bool(select.select([self], [], [], left)[0])

    def _hear(self, told: protocol.Told) -> None:
        match told:
            case protocol.Ready():
                self._url, self._egress = told.url, told.egress
            case protocol.Usage():
                self._calls += 1
                before = self._used.get(told.model, protocol.Usage())
                self._used[told.model] = told.with_each(before, add)
            case protocol.Refused():
                self.refused.append(told.what)
                self._note(told)
            case protocol.Network():
                self.leak = told.why
                self._note(told)
            case protocol.Spent():
                self.over = True
                self.trouble = events.Error(kind="budget", message=told.why)
                self._note(self.trouble)
