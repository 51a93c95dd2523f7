"""`brat doctor --engines`: would each engine start, have its key, and be sandboxed?

These checks run before the first task costs money. Nothing is sent to a vendor: only
the first session shows whether the vendor accepts the key.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from brat.doctor.finding import Finding
from brat.forge.service.programs import plain_environment
from brat.local import start_checks
from brat.local.model_keys import STAND_IN, model_keys
from brat.repository.checkout import Checkout
from convoy.config import Config
from runner import engines
from runner.box.agent_box import cannot_box
from runner.engines.row import Call, Row, is_pointed, program_of
from runner.proxy.proxy_protocol import reachable_hosts
from runner.session.proxy_client import cannot_close

VERSION_S: Final = 20.0
"""One engine takes 5 s to print its version on a small machine."""


def checks(checkout: Checkout, config: Config) -> Iterator[Finding]:
    """Check each engine that the configuration names, and the default engine."""
    have, settings = model_keys(config), config.settings()
    is_closed = False
    for name, spec in settings.engines.items():
        where = start_checks.place_of(name, spec, config)
        lacks = [*start_checks.engine_lacks(checkout, config, name)]
        faults = [Finding("fault", lack.said, lack.mend) for lack in lacks]
        try:
            row = engines.found(spec.type)
            program = program_of(row, spec)
        except ValueError:
            yield from faults
            continue
        if start_checks.is_found(checkout.top, program):
            yield _program(where, row, program)
        yield from faults
        if not lacks and (row.vendors or spec.secret):
            yield Finding("ok", f"{where}: it has its key")
        call = Call(spec, Path(), Path(), endpoint=have.get(STAND_IN, ""))
        unknown = not is_pointed(row, call)
        is_closed |= reachable_hosts(settings.egress, by_default=unknown) is not None
    if is_closed:
        yield _network(settings.egress or ())
    if settings.box == "off":
        yield Finding("note", 'agents get no box: [runner] box is "off"')
    else:
        yield _box()


def _box() -> Finding:
    if why := cannot_box():
        said = "agents get no box here, and none starts without one"
        mend = 'let users make namespaces, or set [runner] box = "off"'
        return Finding("fault", f"{said}: {why}", mend)
    return Finding("ok", "agents get a box")


def _network(listed: tuple[str, ...]) -> Finding:
    where = "[runner] egress: agents"
    if why := cannot_close():
        said = f"{where} are only asked to keep to it, for this machine closes no"
        mend = "let users make namespaces, or close the machine's own network"
        return Finding("note", f"{said} network: {why}", mend)
    beside = f" and {', '.join(listed)}" if listed else ""
    return Finding("ok", f"{where} reach their model{beside}, and nothing else")


def _program(where: str, row: Row, program: str) -> Finding:
    version = _version(program, plain_environment()) if row.vendors else ""
    return Finding("ok", f"{where}: {program} {version}".rstrip())


def _version(program: str, env: dict[str, str]) -> str:
    with TemporaryDirectory(prefix="brat-", ignore_cleanup_errors=True) as home:
        try:
            done = subprocess.run(
                [program, "--version"],
                env={**env, "HOME": home, "TMPDIR": home},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=VERSION_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return "(it does not say its version)"
    said = done.stdout.strip() or done.stderr.strip()
    return said.partition("\n")[0][:80]
