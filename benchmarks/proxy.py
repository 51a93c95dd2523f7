"""What the key proxy and the sandbox cost: time for each call, memory, time at start.

The peer is the same call made to the same vendor, a scripted one on loopback, without
them; both are made in turn, on connections that stay open.
"""

import json
import os
import resource
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from typing import Final
from urllib.parse import urlsplit

import psutil

from brat.local.forge_process import Process
from convoy.model.records import EngineSpec
from grite.outbound import proxy_word
from runner.box.agent_box import cannot_close, unboxed
from runner.engines import ENGINES
from runner.engines.row import Call, Key
from runner.proxy.proxy_protocol import Model, ProxyOrder
from runner.session.proxy_client import ProxyClient
from tests.world.vendor.script import Case, Script, dump

CALLS: Final = 300
STARTS: Final = 15
ASKED: Final = json.dumps(
    {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
)
TOKEN: Final = "made-up"  # noqa: S105  it opens nothing


def overhead(folder: Path, _: int) -> dict[str, object]:
    """Measure calls through the proxy against calls without, and the sandbox."""
    with _vendor(folder) as url, closing(_gateway(url)) as gateway:
        process = _process()
        row, spec = ENGINES["claude-code"], EngineSpec(type="claude-code")
        call = Call(row, spec, key=Key("ANTHROPIC_API_KEY", TOKEN))
        through, world = gateway.pointed(call).endpoint, gateway.environment()
        times = _in_turn(_asking(url), _asking(through))
        begun_s = sum(process.cpu_times()[:2])
        _in_turn(_asking(through), _asking(through), CALLS // 2)
        each_s = (sum(process.cpu_times()[:2]) - begun_s) / CALLS
        tunnels = _in_turn(_reaching(url), _tunnelling(world["HTTPS_PROXY"], url))
        return {
            "calls": CALLS,
            **_compared("call", times),
            "call_cpu_ms": _ms(each_s),
            **_compared("connection", tunnels),
            "proxy_pss_mb": _pss_mb(process),
            **_starting(),
        }


def _compared(what: str, times: tuple[list[float], list[float]]) -> dict[str, float]:
    without, through = times
    return {
        f"{what}_p50_ms": _ms(median(without)),
        f"{what}_through_p50_ms": _ms(median(through)),
        f"{what}_added_p50_ms": _ms(median(through) - median(without)),
        f"{what}_through_p95_ms": _ms(quantiles(through, n=20)[-1]),
    }


def _starting() -> dict[str, object]:
    """Return what the sandbox adds to the start of a program."""
    if why := cannot_close():
        return {"sandbox": why}
    plain, walled = _in_turn(_program([]), _walled, STARTS)
    begun_s = _children_s()
    for _ in range(STARTS):
        _walled()
    return {
        "sandbox_cpu_ms": _ms((_children_s() - begun_s) / STARTS),
        "sandbox_added_p50_ms": _ms(median(walled) - median(plain)),
        "sandbox_p95_ms": _ms(quantiles(walled, n=20)[-1]),
    }


def _in_turn(
    one: Callable[[], None], other: Callable[[], None], times: int = CALLS
) -> tuple[list[float], list[float]]:
    """Return how long each took, in seconds; the first of each does not count."""
    one()
    other()
    pairs = [(_timed(one), _timed(other)) for _ in range(times)]
    return [each for each, _ in pairs], [each for _, each in pairs]


def _timed(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _asking(url: str) -> Callable[[], None]:
    line = HTTPConnection(urlsplit(url).netloc, timeout=60)

    def ask() -> None:
        line.request("POST", "/v1/messages", ASKED, {"x-api-key": TOKEN})
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status

    return ask


def _reaching(url: str) -> Callable[[], None]:
    def reach() -> None:
        _get(HTTPConnection(urlsplit(url).netloc, timeout=60))

    return reach


def _tunnelling(proxy: str, url: str) -> Callable[[], None]:
    way = urlsplit(proxy)
    shown = {"Proxy-Authorization": proxy_word(proxy)}

    def reach() -> None:
        line = HTTPConnection(way.hostname or "", way.port, timeout=60)
        line.set_tunnel(urlsplit(url).netloc, headers=shown)
        _get(line)

    return reach


def _get(line: HTTPConnection) -> None:
    with closing(line):
        line.request("GET", "/")
        line.getresponse().read()


def _program(before: list[str], fds: tuple[int, ...] = ()) -> Callable[[], None]:
    def run() -> None:
        subprocess.run([*before, "true"], pass_fds=fds, check=True)

    return run


def _walled() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        way = theirs.fileno(), 40_001, 40_002
        _program([*unboxed(way)], (theirs.fileno(),))()
        _, fds, _, _ = socket.recv_fds(ours, 1000, 2)
        for each in fds:
            os.close(each)


def _gateway(url: str) -> ProxyClient:
    key = "made-up-key"
    model = Model(dialect="anthropic", upstream=url, key=key, token=TOKEN)
    order = ProxyOrder(model=model, egress=(urlsplit(url).netloc,))
    gateway = ProxyClient(order, {}, is_boxed=False)
    gateway.serve()
    return gateway


@contextmanager
def _vendor(folder: Path) -> Iterator[str]:
    script = folder / "script.json"
    script.write_bytes(dump(Script(cases=(Case(closing="Well."),))))
    log = folder / "vendor.log"
    process = Process("tests.world.vendor", "--script", str(script), log=log)
    try:
        yield json.loads(process.ready())["url"]
    finally:
        process.stop()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _process() -> psutil.Process:
    return next(
        each
        for each in psutil.Process().children()
        if "runner.proxy" in " ".join(each.cmdline())
    )


def _pss_mb(process: psutil.Process) -> float:
    return round(process.memory_full_info().pss / 1e6, 1)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
