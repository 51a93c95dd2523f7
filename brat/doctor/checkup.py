"""`brat doctor`: check everything and say how to repair each fault.

`--engines` asks whether each engine would start, has its key and is sandboxed, before
the first task costs money. Nothing is sent to a vendor: only the first session shows
whether the vendor accepts the key.

`--fix` removes caches and locks that are of no use. History stays as it is, and a ref
that somebody moves meanwhile is left alone.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pygit2

from bot import wall_clock
from bot.door.inbox import UNREADABLE
from bot.forge.workflows import exposures, left_out_by_paths
from bot.serving.examination import Finding, Grade
from bot.text import notices
from brat.doctor import say_finding
from brat.forge.service.programs import plain_environment
from brat.local import local_mode, start_checks
from brat.local.start_checks import MODEL_URL, Lack, model_keys
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    workflow_files,
)
from brat.repository.checkout import Checkout
from brat.repository.log_reader import CACHE, Reader, verify, wrong_checkpoints
from brat.repository.remote_forge import origin_of
from brat.status.local_attention import ended_daemon
from brat.terminal.console import say
from convoy.config import Config, ConfigError
from convoy.log.record import follow
from convoy.text import counted
from convoy.views.interventions import interventions
from grite import git, lease as leases
from grite.errors import BratError, Corrupt, GitFailed
from grite.signatures import SIGNERS_FILE
from grite.wal import Log
from runner import engines
from runner.box import surroundings
from runner.box.agent_box import cannot_box, cannot_close
from runner.box.surroundings import CREDENTIALS
from runner.engines.row import Call, can_be_pointed, program_of
from runner.proxy.proxy_protocol import reachable_hosts

LEAST: Final = 1_000_000_000
"""Bytes; a checkout for each session at work has to fit in."""


def checked_machine(folder: Path) -> Iterator[Finding]:
    yield room(shutil.disk_usage(folder).free, folder)
    yield tools(surroundings.own_tool_variables(), Path.home())
    for each in ended_daemon(folder):
        yield Finding("fault", each.why, each.commands[0])
    for file in sorted(folder.glob(f"bot/inbox/*{UNREADABLE}")):
        told = f"the request in {file} could not be read and was set aside"
        mend = "repeat it with a label or a comment, then delete the file"
        yield Finding("note", told, mend)


def tools(variables: Mapping[str, str], home: Path) -> Finding:
    """Return what of a person's terminal agents and CI have, and what is kept away."""
    has = ", ".join(("PATH", *sorted(variables)))
    kept = [f"~/{each}" for each in CREDENTIALS if os.path.lexists(home / each)]
    but = f", but not {', '.join(kept)}" if kept else ""
    return Finding("ok", f"agents and CI get {has} from your terminal{but}")


def room(free: int, folder: Path) -> Finding:
    left = f"{free / 1e9:.1f} GB of disk space free for sessions"
    if free >= LEAST:
        return Finding("ok", left)
    mend = f"free up space on the disk that holds {folder}"
    return Finding("fault", f"only {left}", mend)


VERSION_S: Final = 20.0
"""One engine takes 5 s to print its version on a small machine."""


def checked_engines(checkout: Checkout, config: Config) -> Iterator[Finding]:
    have, settings = model_keys(config), config.settings()
    is_closed = False
    for name, spec in settings.engines.items():
        where = start_checks.place_of(name, spec, config)
        faults = [*_lacking("fault", start_checks.engine_lacks(checkout, config, name))]
        try:
            row = engines.found(spec.type)
            program = program_of(row, spec)
        except ValueError:
            yield from faults
            continue
        if start_checks.is_found(checkout.top, program):
            version = _version(program, plain_environment()) if row.vendors else ""
            yield Finding("ok", f"{where}: {program} {version}".rstrip())
        yield from faults
        if not faults and (row.vendors or spec.secret):
            yield Finding("ok", f"{where}: the key is set")
        vendor = Call(row, spec, endpoint=have.get(MODEL_URL, "")).vendor
        unknown = not can_be_pointed(vendor)
        is_closed |= reachable_hosts(settings.egress, by_default=unknown) is not None
    if is_closed:
        said, listed = "[runner] egress: agents", ", ".join(settings.egress or ())
        if why := cannot_close():
            said += " are only asked to use the proxy, because this machine cannot"
            mend = (
                "allow users to create namespaces, or restrict the machine's own "
                "network"
            )
            yield Finding("note", f"{said} isolate their network: {why}", mend)
        else:
            beside = f" and {listed}" if listed else ""
            yield Finding("ok", f"{said} can reach only their model{beside}")
    if settings.box == "off":
        yield Finding("note", 'agents run without a sandbox: [runner] box is "off"')
    elif why := cannot_box():
        said = "this machine cannot sandbox agents, so no agent starts"
        mend = 'allow users to create namespaces, or set [runner] box = "off"'
        yield Finding("fault", f"{said}: {why}", mend)
    else:
        yield Finding("ok", "agents run in a sandbox")


def _lacking(grade: Grade, lacks: Iterable[Lack]) -> Iterator[Finding]:
    return (Finding(grade, lack.said, lack.mend) for lack in lacks)


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
            return "(version unknown)"
    said = done.stdout.strip() or done.stderr.strip()
    return said.partition("\n")[0][:80]


GRACE_MS: Final = 300_000
"""A lock is stale this long after it expired: clocks may differ by that much."""


def repair(bare: Path, now: int) -> tuple[str, ...]:
    """Remove useless refs and caches from a repository; return a sentence for each.

    It removes checkpoints that differ from the folded log, if the log is complete and
    sound; lock refs that hold no lock or an expired one; and the cache of an earlier
    reading, if it cannot be used. Safe to call again: a second call returns none.
    """
    repo, log = pygit2.Repository(str(bare)), Log(bare)
    wrong, head = dict(_stale_locks(repo, now)), log.head()
    # Else a checkpoint may know what the log here no longer says.
    if head is not None and log.missing(head) is None and not follow(log, head).faults:
        wrong = wrong_checkpoints(bare) | wrong
    done = []
    for ref, why in wrong.items():
        with contextlib.suppress(GitFailed):  # somebody moved it: then it is not ours
            commit = str(repo.references[ref].target)
            git.run(["update-ref", "-d", ref, commit], cwd=bare)
            done.append(f"removed {ref}: {why}")
    return (*done, *_kept_anew(bare))


def _stale_locks(repo: pygit2.Repository, now: int) -> Iterator[tuple[str, str]]:
    for ref in repo.listall_references():
        if not ref.startswith(leases.LOCKS):
            continue
        try:
            lock = leases.read(repo, str(repo.references[ref].target))
        except Corrupt as error:
            yield ref, f"it does not contain a lock: {error}"
        else:
            if lock.expires_ms + GRACE_MS <= now:
                yield ref, f"the lock on {lock.resource} expired"


def _kept_anew(bare: Path) -> Iterator[str]:
    reader = Reader(bare)
    with contextlib.suppress(Corrupt):  # the log's own faults are said elsewhere
        reader.read()
    folder = bare / CACHE
    if any(notice.startswith(str(folder)) for notice in reader.notices):
        for file in folder.iterdir():
            file.unlink(missing_ok=True)
        with contextlib.suppress(Corrupt):
            Reader(bare).read()
        yield f"the log was read again in full: the cache in {folder} was unusable"


def check_up(
    path: Path,
    *,
    fix: bool,
    engines: bool,
    sweep: Callable[[], object],
    bundle: Path | None = None,
) -> int:
    """Check everything and print the findings; return 1 when there is a fault.

    `fix` removes wrong caches, frees expired locks and leases, and prints each of
    these; `sweep` then runs one tick of the deacon. `engines` starts the configured
    engines' programs, too, and looks at their box. `bundle` is a file for somebody
    else.
    """
    found: list[Finding] = []
    try:
        git.require_version()
        found.append(Finding("ok", f"git {'.'.join(map(str, git.version()))}"))
        found.extend(_of_checkout(checkouts.find(path), engines=engines))
    except BratError as error:
        found.append(Finding("fault", str(error)))
    for finding in found:
        say_finding(finding)
    if bundle is not None:
        from brat.doctor import debug_bundle

        debug_bundle.write_bundle(path, bundle, found)
        say(f"wrote {bundle}; check it before you share it")
    if fix:
        folder = checkouts.find(path).folder
        bare = registrations.bare_path(folder, registrations.read(folder))
        for done in repair(bare, wall_clock()):
            say(f"  fixed  {done}")
        sweep()
    return 1 if any(finding.grade == "fault" for finding in found) else 0


def _of_checkout(checkout: Checkout, *, engines: bool) -> Iterator[Finding]:
    config, faults = None, list[Finding]()
    try:
        config = local_mode.configuration(checkout)
    except ConfigError as error:
        faults = [Finding("fault", fault) for fault in error.faults]
    without_server = list(_workflows(checkout, config))
    yield from without_server
    found = registrations.known(checkout.folder)
    yield from _lacking("fault", start_checks.clone_lacks(checkout, found))
    yield from _lacking("note", start_checks.branch_lacks(checkout, found))
    yield from _lacking("note", start_checks.ignored_files(checkout))
    if engines and config:
        yield from checked_engines(checkout, config)
    if found is None and without_server:
        return
    if found is not None:
        yield Finding("ok", f"{checkout.top} is {found.repository}")
        yield from checked_machine(checkout.folder)
    yield from faults
    if config:
        yield Finding("ok", "the configuration is valid")
        ci = start_checks.ci_of(checkout, config, found)
        yield from _lacking("fault", start_checks.ci_lacks(checkout, config, ci))
        yield from _lacking("note", start_checks.awaited_checks(config))
        yield from _lacking("note", start_checks.uncounted_costs(config))
        if not engines:  # without starting them
            yield from _lacking("fault", start_checks.engine_lacks(checkout, config))
    if found is None:
        yield Finding("note", "brat has not run here yet", "brat run 'WHAT TO DO'")
        return
    is_shared = False
    with contextlib.suppress(BratError):
        is_shared = bool(origin_of(checkout.top))
    yield from _log(registrations.bare_path(checkout.folder, found), is_shared)


def _workflows(checkout: Checkout, config: Config | None) -> Iterator[Finding]:
    found = workflow_files.compare(checkout)
    there = {each.name for each in found if each.is_there}
    if not there:
        return
    # A self-hosted bot needs one file that runs tasks; the mode without a server, its.
    needed = workflow_files.needed(checkout) if workflow_files.LOOP in there else ()
    for each in found:
        name = f"{workflow_files.FOLDER}/{each.name}"
        if not each.is_there:
            if each.name in needed:
                yield Finding("fault", f"{name} is missing", "brat init --actions")
        elif each.is_ours:
            yield Finding("ok", f"{name} matches this version")
        else:
            yield Finding("note", f"{name} is from another version")
    if needed and not (checkout.top / SIGNERS_FILE).exists():
        yield _OPEN_LOG
    yield from _ci(checkout, there, config)
    # Environments' rules are the forge's: `brat doctor --github` asks it.
    for one in exposures(workflow_files.own(checkout), "", None):
        yield Finding("fault", one.said, one.mend)


def _ci(
    checkout: Checkout, there: Collection[str], config: Config | None
) -> Iterator[Finding]:
    line = workflow_files.awaited(checkout)
    for ci in workflow_files.ci_names(checkout):
        if line is not None and ci not in line:
            said = f"brat.yml is not triggered by the workflow {ci}"
            yield Finding("note", said, f'if that is your CI, add "{ci}" to brat.yml')
    if config is None or not (settings := config.settings()).require_ci:
        return
    if lacks := workflow_files.ci_lack(checkout, there):
        yield Finding("note", *lacks)
    files, required = workflow_files.own(checkout), settings.checks
    if picky := left_out_by_paths(files, required):
        yield Finding("note", notices.left_out_by_paths(picky))


def _log(bare: Path, is_shared: bool) -> Iterator[Finding]:  # noqa: FBT001
    reader = Reader(bare)
    try:
        state = reader.read()
    except Corrupt as error:
        yield Finding("fault", str(error))
        return
    head, convoys = state.moment.commit[:10], counted(len(state.convoys), "convoy")
    said = f"is readable up to {head} ({convoys})" if head else "is still empty"
    yield Finding("ok", f"the log {said}")
    trusted = reader.trusted  # on this machine alone nobody else may push
    if trusted is None and is_shared:
        yield _OPEN_LOG
    elif trusted is not None and trusted.head is None and trusted.foreign:
        said = f"no commit in the log is trusted; the newest one: {trusted.fault}"
        adopt = f"check it (brat log show), then: brat log adopt {trusted.foreign[0]}"
        yield Finding("fault", said, adopt)
    for fault in reader.faults:
        yield Finding("fault", f"the log has a fault: {fault}; brat read the rest")
    for wrong in (*reader.notices, *verify(bare)):
        yield Finding("note", wrong, "brat ignores it; to remove it: brat doctor --fix")
    for unknown in state.unknown:
        yield Finding(
            "fault",
            f"the log contains {unknown}",
            "update brat; until then, the log is read-only",
        )
    now = wall_clock()
    for waits in interventions(state, now):
        if waits.kind == "set_aside":
            yield Finding("fault", waits.why, "".join(waits.commands[:1]))
    for lease in state.leases.values():
        if lease.expires <= now:
            said = f"{lease.holder}'s lease on {lease.resource} has expired"
            yield Finding("note", said, "brat deacon run")


_OPEN_LOG: Final = Finding(
    "note",
    "the log has no signing key, so anyone with push access can forge it",
    "run brat setup to create one",
)
