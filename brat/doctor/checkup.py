"""`brat doctor`: check everything and say how to repair each fault."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final

from bot import wall_clock
from bot.forge.workflows import exposures
from brat.doctor import machine_checks
from brat.doctor.finding import Finding
from brat.local import local_mode, start_checks
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    workflow_files,
)
from brat.repository.checkout import Checkout
from brat.repository.log_reader import Reader, verify
from brat.terminal.console import say
from convoy.config import ConfigError
from convoy.model.state import State
from convoy.text import counted
from convoy.views.interventions import interventions
from grite import git
from grite.errors import BratError, Corrupt

_MARKS: Final = {"ok": "  ok   ", "note": "  note ", "fault": "  FAULT"}


def run(
    path: Path,
    *,
    fix: bool,
    engines: bool,
    sweep: Callable[[], object],
    bundle: Path | None = None,
) -> int:
    """Check everything and print the findings; return 1 when there is a fault.

    Args:
        path: in the repository.
        fix: remove wrong caches, free expired locks and leases, and print each of
            these; history is never rewritten.
        sweep: runs one tick of the deacon; called after the repair.
        engines: start the configured engines' programs, too, and look at their box.
        bundle: a file for what somebody else needs to see; None: none.
    """
    found = list(_findings(path, engines=engines))
    if engines:
        found += _engines(path)
    for finding in found:
        mend = f" -> {finding.mend}" if finding.mend else ""
        say(f"{_MARKS[finding.grade]} {finding.said}{mend}")
    if bundle is not None:
        from brat.doctor import debug_bundle

        debug_bundle.write(path, bundle, found)
        say(f"wrote {bundle}; look through it before you give it to anybody")
    if fix:
        _fix(path)
        sweep()
    return 1 if any(finding.grade == "fault" for finding in found) else 0


def _findings(path: Path, *, engines: bool) -> Iterator[Finding]:
    try:
        git.require_version()
    except BratError as error:
        yield Finding("fault", str(error))
        return
    yield Finding("ok", f"git {'.'.join(map(str, git.version()))}")
    without_server: list[Finding] = []
    try:
        checkout = checkouts.find(path)
        without_server = list(_workflows(checkout))
        yield from without_server
        yield from _cloned(checkout)
        known = registrations.read(checkout.folder)
    except BratError as error:
        if not without_server:
            yield Finding("fault", str(error))
        return
    yield Finding("ok", f"{checkout.top} is {known.repository}")
    yield from machine_checks.checks(checkout.folder)
    yield from _configuration(checkout)
    if not engines:
        yield from _startable(checkout)
    yield from _log(registrations.bare_path(checkout.folder, known))


def _engines(path: Path) -> Iterator[Finding]:
    from brat.doctor import engine_checks

    try:
        checkout = checkouts.find(path)
        yield from engine_checks.checks(checkout, local_mode.configuration(checkout))
    except ConfigError:
        return  # told already
    except BratError as error:
        yield Finding("fault", str(error))


def _cloned(checkout: Checkout) -> Iterator[Finding]:
    """Check that agents can start from this clone, and from which branch."""
    known = registrations.known(checkout.folder)
    for lack in start_checks.clone_lacks(checkout, known):
        yield Finding("fault", lack.said, lack.mend)
    for lack in start_checks.branch_lacks(checkout, known):
        yield Finding("note", lack.said, lack.mend)


def _configuration(checkout: Checkout) -> Iterator[Finding]:
    try:
        config = local_mode.configuration(checkout)
    except ConfigError as error:
        for fault in error.faults:
            yield Finding("fault", fault)
        return
    yield Finding("ok", "the configuration is valid")
    ci = local_mode.ci_of(checkout, config, registrations.read(checkout.folder))
    for lack in start_checks.ci_lacks(checkout, config, ci):
        yield Finding("fault", lack.said, lack.mend)


def _startable(checkout: Checkout) -> Iterator[Finding]:
    """Yield why engines would not start, without starting them."""
    try:
        config = local_mode.configuration(checkout)
    except ConfigError:
        return  # told already
    lacks = (
        *start_checks.engine_lacks(checkout, config),
        *start_checks.merge_lacks(config),
    )
    for lack in lacks:
        yield Finding("fault", lack.said, lack.mend)


def _workflows(checkout: Checkout) -> Iterator[Finding]:
    """Check the workflow files, if there are any."""
    found = workflow_files.compare(checkout)
    there = {each.name for each in found if each.is_there}
    if not there:
        return
    # A self-hosted bot needs one file that runs tasks; the mode without a server, both.
    needed = workflow_files.NAMES if workflow_files.NAMES[0] in there else ()
    for each in found:
        name = f"{workflow_files.FOLDER}/{each.name}"
        if not each.is_there:
            if each.name in needed:
                yield Finding("fault", f"{name} is missing", "brat init --actions")
        elif each.is_ours:
            yield Finding("ok", f"{name} is this version's")
        else:
            yield Finding("note", f"{name} is not this version's")
    yield from _ci(checkout, there)
    yield from _exposed(checkout)


def _exposed(checkout: Checkout) -> Iterator[Finding]:
    """Check what CI on the forge would hand to the code of agents."""
    # Environments' rules are the forge's: `brat doctor --github` asks it.
    for one in exposures(workflow_files.own(checkout), "", frozenset()):
        yield Finding("fault", one.said, one.mend)


def _ci(checkout: Checkout, there: Collection[str]) -> Iterator[Finding]:
    line = workflow_files.awaited(checkout)
    for ci in workflow_files.ci_names(checkout):
        if line is not None and ci not in line:
            said = f"brat.yml does not wait for the workflow {ci}"
            yield Finding("note", said, f'add "{ci}" to its workflows, if it is CI')
    lacks = workflow_files.ci_lack(checkout, there)
    if lacks and _requires_ci(checkout):
        yield Finding("note", *lacks)


def _requires_ci(checkout: Checkout) -> bool:
    try:
        return local_mode.configuration(checkout).refinery.require_ci
    except ConfigError:
        return False  # told by itself


def _log(bare: Path) -> Iterator[Finding]:
    reader = Reader(bare)
    try:
        state = reader.read()
    except Corrupt as error:
        yield Finding("fault", str(error))
        return
    head, convoys = state.moment.commit[:10], counted(len(state.convoys), "convoy")
    said = f"reads up to {head}, {convoys}" if head else "is still empty"
    yield Finding("ok", f"the log {said}")
    yield from _signed(reader)
    for fault in reader.faults:
        yield Finding("fault", f"the log: {fault}; all else was read")
    for wrong in (*reader.notices, *verify(bare)):
        yield Finding("note", wrong, "it is not used; brat doctor --fix")
    for unknown in state.unknown:
        yield Finding("fault", f"the log holds {unknown}", "update brat: it only reads")
    yield from _waiting(state, wall_clock())


def _signed(reader: Reader) -> Iterator[Finding]:
    """Yield whose log it is."""
    found = reader.trusted
    if found is None:
        said = "nobody says who may sign the log, so whoever may push may write it"
        yield Finding("note", said, "put the bot's key into .brat/allowed_signers")
    elif found.head is None and found.foreign:
        said = f"no commit of the log counts; the newest: {found.fault}"
        adopt = f"look at it (brat log show), then: brat log adopt {found.foreign[0]}"
        yield Finding("fault", said, adopt)


def _waiting(state: State, now: int) -> Iterator[Finding]:
    """Yield what is set aside, and the leases that have run out."""
    for waits in interventions(state, now):
        if waits.kind == "set_aside":
            yield Finding("fault", waits.why, "".join(waits.commands[:1]))
    for lease in state.leases.values():
        if lease.expires <= now:
            said = f"{lease.holder}'s lease on {lease.resource} has run out"
            yield Finding("note", said, "brat deacon run")


def _fix(path: Path) -> None:
    from brat.doctor.repair import repair

    checkout = checkouts.find(path)
    known = registrations.read(checkout.folder)
    for done in repair(registrations.bare_path(checkout.folder, known), wall_clock()):
        say(f"  fixed  {done}")
