"""Bring the commits of the person's checkout to the local forge, and its configuration.

Commits go by git's ordinary push, which reads the checkout and never writes to it. The
configuration that lies in the checkout counts as it is edited.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bot.roles.bot_context import BotContext
from bot.settings.bot_settings import config_in
from brat.forge.storage.git_storage import Bare
from brat.local.forge_process import ServedForge
from brat.local.start_checks import branch_lacks, ci_of
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.registration import CONFIG, Registration
from brat.terminal.console import Tell
from convoy.config import ConfigError
from convoy.model import ids
from convoy.text import counted
from grite import git

_APART: Final = re.compile("non-fast-forward|fetch first|stale info")
_UNREACHED: Final = re.compile("unable to access|early EOF|hung up")
_TAGS: Final = "refs/tags/"
_SHOWN: Final = 3
_LOOKS: Final = 3
"""How many looks in a row may fail to reach the forge before the person is told."""


@dataclass(kw_only=True)
class CheckoutSync:
    """Pushes from one checkout to one forge, and looks at its configuration.

    `take_up` and `look` are called at each tick.
    """

    checkout: Checkout
    known: Registration
    url: str
    tell: Tell
    _told: set[str] = field(default_factory=set)
    _seen: str | None = None
    """The person's tip that needs no further look; None: look again."""
    _named: tuple[str, dict[str, str]] | None = None
    """The tip and the other names at the last look."""
    _unreached: int = 0
    _mark: object = None
    """The branch's tip and the configuration's file, as they were last compared."""
    _differs: bool = False

    @property
    def bare(self) -> Path:
        return registrations.bare_path(self.checkout.folder, self.known)

    @property
    def branch(self) -> str:
        """The branch's full ref name, the same on both sides."""
        return f"refs/heads/{self.known.branch}"

    def take_up(self) -> None:
        """Bring the person's newest commits to the forge, as the branch's next move.

        Commits beside landed work wait until the person has put them on top of it. A
        branch that the person has rewritten is taken as it is if nothing has landed
        since. Each obstacle is told once. Cheap while there is nothing new.
        """
        tip = checkouts.tip_of(self.checkout.top, self.branch)
        top, name = self.checkout.top, self.known.branch
        if now := checkouts.branch_of(top):
            for lack in branch_lacks(replace(self.checkout, branch=now), self.known):
                self._tell_once(str(lack))
        if tip is None:
            self._tell_once(f"{top} has no branch {name}, so brat picks up no commits")
            return
        self._take_names(tip)
        if tip != self._seen:
            taken = not checkouts.branches_apart(self.checkout, self.known).own
            self._seen = tip if taken or self._pushed(tip) else None
            checkouts.note_taken(self.checkout, self.known)

    def _take_names(self, tip: str) -> None:
        """Bring origin's default branch, and the tags on it and on the person's.

        Versions are told by them, and what has changed. Those deleted here go.
        """
        top, bare = self.checkout.top, Bare(self.bare)
        named = checkouts.named_refs(top, self.known.branch)
        if (tip, named) == self._named:
            return
        self._named = tip, named
        here = {ref: at for ref, at in named.items() if not ref.startswith(_TAGS)}
        if len(here) < len(named):
            on = (f"--merged={each}" for each in (tip, *here))
            asked = ["for-each-ref", "--format=%(refname)", *on, _TAGS]
            tags = os.fsdecode(git.run(asked, cwd=top).stdout).split()
            here |= {each: named[each] for each in tags if each in named}
        there = bare.refs(_TAGS) | bare.refs("refs/remotes/")
        for ref in there.keys() - here.keys():
            with suppress(KeyError):  # another terminal may be quicker
                bare.move(ref, None)
        if new := here.items() - there.items():
            specs = "".join(f"+{ref}:{ref}\n" for ref, _ in sorted(new))
            fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
            told = [*fetch, "--stdin", str(top)]
            stdin = os.fsencode(specs)
            done = git.run(told, cwd=self.bare, stdin=stdin, check=False)
            if done.status:
                self._tell_once(f"could not pick up some tags: {done.stderr.strip()}")

    def _pushed(self, tip: str) -> bool:
        """Push a commit; return whether the forge has answered, be it with a no."""
        before = checkouts.tip_of(self.bare, self.branch)
        is_taken = before is not None and before == checkouts.tip_of(
            self.bare, checkouts.TAKEN
        )
        lease = (f"--force-with-lease={self.branch}:{before}",) if is_taken else ()
        # The longest match counts: no rewriting of the person's leads elsewhere.
        as_it_is = f"url.{self.url}/.{{}}={self.url}/"
        done = git.run(
            [
                *("-c", as_it_is.format("insteadOf")),
                *("-c", as_it_is.format("pushInsteadOf")),
                *("push", "--quiet", "--no-verify", *lease),
                f"{self.url}/{self.known.repository}.git",
                f"{tip}:{self.branch}",
            ],
            cwd=self.checkout.top,
            env=git.authorization(self.known.person_token),
            check=False,
        )
        if done.status == 0:
            between = f"{before}...{tip}" if before else tip
            count = ["rev-list", "--count", "--left-right", between]
            old, new = map(int, git.run(count, cwd=self.bare).stdout.split())
            instead = f" instead of {counted(old, 'commit')}" if old else ""
            what = counted(new, "new commit")
            self.tell(f"picked up {what} from you{instead}: {tip[:10]}")
        elif _UNREACHED.search(done.stderr):
            self._unreached += 1
            if self._unreached == _LOOKS:
                self._refused(done.stderr)
            return False
        elif _APART.search(done.stderr):
            self._tell_way(
                "your new commits are waiting because other work has landed; rebase "
                "them with"
            )
        else:
            self._refused(done.stderr)
        self._unreached = 0
        return True

    def _refused(self, said: str) -> None:
        self._tell_once(f"could not pick up your new commits: {said.strip()}")

    def tell_landed(self) -> None:
        """Say once how to bring work that has landed into the checkout."""
        tip = checkouts.tip_of(self.bare, self.branch)
        if tip is None or tip in self._told:
            return
        if checkouts.branches_apart(self.checkout, self.known).landed:
            self._told.add(tip)
            self._tell_way("work landed; bring it into your checkout with")

    def _tell_way(self, said: str) -> None:
        """Say how landed work comes into the checkout, and what is in its way."""
        if changed := checkouts.in_its_way(self.checkout, self.known):
            more = " ..." if len(changed) > _SHOWN else ""
            files = f"{', '.join(changed[:_SHOWN])}{more}"
            self.tell(f"first {checkouts.mending(self.checkout, changed)}: {files}")
        self.tell(f"{said}: brat pull")

    def look(self, context: BotContext, forge: ServedForge) -> None:
        """Use the file where it is not what is committed; cheap while nothing changed.

        The person is told when that begins and ends.
        """
        file = self.checkout.config
        branch = ids.HEADS + context.mirror.default_branch
        own: object = None
        with suppress(OSError):
            found = file.stat()
            own = found.st_mtime_ns, found.st_size, found.st_ino
        mark = (context.mirror.refs.get(branch), own)
        if mark == self._mark:
            return
        first = self._mark is None
        differs = False
        if own is not None:  # the default branch may be known before a mirror is
            lies = None  # it cannot be read, as its reader says
            with suppress(OSError):
                lies = file.read_bytes()
            bare = Bare(self.bare)
            committed = bare.file(bare.ref(bare.head) or "", CONFIG)
            differs = lies != (committed.data if committed else b"")
        if differs and not self._differs:
            self.tell(f"using the uncommitted version of {file}")
        elif self._differs and not differs:
            self.tell(f"using the committed version of {CONFIG}")
        self._differs = differs
        update = {"config_file": file if differs else None}
        context.settings = context.settings.model_copy(update=update)
        try:
            ci = forge.ci
            if not first:
                ci = ci_of(self.checkout, config_in(file), self.known)
        except ConfigError as error:
            self.tell(f"{error}")
        else:
            if ci != forge.ci:
                forge.judge_by(ci)
                how = f"tested by `{ci.command}`" if ci.command else "not tested"
                self.tell(f"[ci] has changed: work that lands from now on is {how}")
        self._mark = mark

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self.tell(line)
