"""`brat init`, `brat config check`, and `brat uninstall`.

What brat left in a repository is listed and then removed. Branches of convoys and
landed commits are people's work and stay.
"""

import os
import shutil
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from brat.local import local_mode
from brat.local.start_checks import clone_lacks, engine_lacks, ignored_files, require
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    workflow_files,
)
from brat.repository.checkout import Checkout
from brat.repository.forge_files import forge_in_use
from brat.repository.registration import CONFIG, Source
from brat.terminal.console import agrees, say
from convoy.config import Config
from grite import git
from grite.errors import BratError
from grite.outbound import here
from runner import engines


def init(repo: Path, *, actions: bool = False, hosted: bool = False) -> int:
    """Register the repository that `repo` lies in; safe to call again.

    For a mode on GitHub write its workflow files instead. Returns the exit status.
    """
    checkout = checkouts.find(repo)
    if actions or hosted:
        config = local_mode.configuration(checkout)
        names = workflow_files.HOSTED if hosted else workflow_files.needed(checkout)
        lacks = workflow_files.ci_lack(checkout, names)
        if config.settings().require_ci and lacks:
            say(f"note: {': '.join(lacks)}")
        return workflow_files.adopt(checkout, names)
    checkouts.require_clean(checkout)
    before = registrations.known(checkout.folder)
    now = before and replace(before, branch=checkout.branch)
    require(*clone_lacks(checkout, now))
    register(checkout, local_mode.configuration(checkout))
    say('next: brat run "what to do"')
    return 0


def register(checkout: Checkout, config: Config) -> None:
    """Register a clean checkout that agents can start from; safe to call again."""
    proposal = checkout.propose_ci()
    command = config.ci.typed
    known = registrations.register(
        checkout.folder,
        Source(
            path=checkout.top,
            branch=checkout.branch,
            name=checkout.name,
            person=checkout.person(),
            ci_command=proposal.command if proposal else None,
        ),
    )
    checkouts.note_taken(checkout, known)
    say(f"registered {checkout.top} as {known.repository}, branch {known.branch}")
    if command:
        say(f"CI: {command} (from {CONFIG})")
    elif proposal:
        say(f"CI: {proposal.command} ({proposal.why})")
        say(f"    to use a different command, set [ci] command in {CONFIG}")
    else:
        say(without_ci(config))
    if not checkout.config.exists():
        say(f"no {CONFIG}: the defaults apply; see docs/configuration.md")
    for lack in (*engine_lacks(checkout, config), *ignored_files(checkout)):
        say(f"note: {lack}")


def config_check(repo: Path) -> None:
    """Say that the configuration is valid; raise if it has a fault."""
    checkout = checkouts.find(repo)
    config = local_mode.configuration(checkout)
    say(f"{checkout.config}: valid" if checkout.config.exists() else "default settings")
    for name, engine in config.settings().engines.items():
        if engine.type not in engines.known():
            say(
                f"note: this version does not support {engine.type} ([engine.{name}]) "
                "yet"
            )


def without_ci(config: Config) -> str:
    """Return a sentence on what happens to work when no CI judges it."""
    if not config.settings().require_ci:
        return "CI: none found and none required, so agents' work lands untested"
    return (
        f"CI: none found. Nothing will land until you set [ci] command in {CONFIG}, "
        "or [refinery] require_ci = false"
    )


PATTERNS: Final = ("refs/grite/", "refs/heads/brat/queue/")
"""Refs that nobody but brat needs."""
AT_ONCE: Final = 1000
"""How many refs one push removes: a command's arguments may fill no more than 2 MB."""
LABELS_STAY: Final = (
    "labels stay on the forge; to remove them with gh: gh label list --search brat, "
    "then gh label delete NAME"
)


def uninstall(repo: Path, remote: str | None, *, yes: bool) -> int:
    """Remove what brat left, once the person agrees; return the exit status.

    Refs of `remote` go, too; None: only what is on this machine. Safe to call again.
    """
    checkout = checkouts.find(repo)
    folder, top = checkout.folder, checkout.top
    if folder.exists() and forge_in_use(folder):
        raise BratError(f"stop brat in {top} first")
    workflows = [
        top / workflow_files.FOLDER / each.name
        for each in workflow_files.compare(checkout)
        if each.is_there
    ]
    asked = ["for-each-ref", "--format=%(refname)", *PATTERNS]
    refs = git.lines(git.run(asked, cwd=top).stdout)
    there: list[str] = []
    if remote:
        asked = ["ls-remote", "--refs", remote, *(f"{prefix}*" for prefix in PATTERNS)]
        told = git.run(asked, cwd=top, env=here().for_git()).stdout
        there = [line.partition("\t")[2] for line in git.lines(told)]
    own = [f"{folder} (the local forge, its log and its bot)"] * folder.exists()
    lines = (
        *own,
        *(f"{file} (commit the removal yourself)" for file in workflows),
        *(f"{ref} in this clone" for ref in refs),
        *(f"{ref} on {remote}" for ref in there),
    )
    if not lines:
        say("there is nothing to remove")
        return 0
    say("this will be permanently removed:")
    for line in lines:
        say(f"  {line}")
    if not agrees("remove all of this?", yes=yes):
        say("nothing was removed")
        return 1
    gone = [f":{ref}" for ref in there]  # first: if this push fails, the rest stays
    for first in range(0, len(gone), AT_ONCE):
        asked = ["push", "--quiet", remote or "", *gone[first : first + AT_ONCE]]
        git.run(asked, cwd=top, env=here().for_git())
    deleted = os.fsencode("".join(f"delete {ref}\n" for ref in refs))
    git.run(["update-ref", "--stdin"], cwd=top, stdin=deleted)
    for file in workflows:
        file.unlink(missing_ok=True)
    if own:
        shutil.rmtree(folder)
    say("removed; " + LABELS_STAY)
    return 0
