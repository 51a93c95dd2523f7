"""Bring the commits and configuration of the person's checkout to the local forge.

Commits go by git's ordinary push, which reads the checkout and never writes to it.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.registration import Registration
from brat.repository.state_files import CONFIG
from brat.terminal.console import Tell
from grite import git


@dataclass(kw_only=True)
class CheckoutSync:
    """Pushes from one checkout to one forge."""

    checkout: Checkout
    known: Registration
    url: str
    tell: Tell
    _told: set[str] = field(default_factory=set)

    @property
    def bare(self) -> Path:
        """The forge's repository on disk."""
        return registrations.bare_path(self.checkout.folder, self.known)

    @property
    def branch(self) -> str:
        """The branch's full ref name, the same on both sides."""
        return f"refs/heads/{self.known.branch}"

    def take_up(self) -> None:
        """Bring the person's newest commits to the forge.

        Commits that are not based on the landed work wait for the person's next pull;
        the person is told so once.
        """
        if self._holds_tip():
            return
        pushed = git.run(
            [
                *("push", "--quiet", "--no-verify"),
                f"{self.url}/{self.known.repository}.git",
                f"{self.branch}:{self.branch}",
            ],
            cwd=self.checkout.top,
            env=git.authorization(self.known.person_token),
            check=False,
        )
        if pushed.status == 0:
            return
        if re.search("non-fast-forward|fetch first", pushed.stderr):
            line = pull_line(self.checkout, self.known)
            self._tell_once(f"your new commits wait until you have run: {line}")
        else:
            self._tell_once(f"your commits were not taken up: {pushed.stderr.strip()}")

    def config_differs(self) -> bool:
        """Whether the checkout's configuration differs from the forge's."""
        file = self.checkout.config
        shown = git.run(
            ["cat-file", "blob", f"{self.branch}:{CONFIG}"], cwd=self.bare, check=False
        )
        committed = shown.stdout if shown.status == 0 else b""
        return file.exists() and file.read_bytes() != committed

    def has_news(self) -> bool:
        """Whether the forge's branch holds commits that the checkout lacks."""
        return not self._contains(self.checkout.top, self._tip(self.bare))

    def _holds_tip(self) -> bool:
        """Whether the forge's branch contains all of the person's commits."""
        return self._contains(self.bare, self._tip(self.checkout.top))

    def _tip(self, where: Path) -> str:
        return git.run(["rev-parse", self.branch], cwd=where).stdout.decode().strip()

    def _contains(self, where: Path, commit: str) -> bool:
        args = ["merge-base", "--is-ancestor", commit, self.branch]
        return git.run(args, cwd=where, check=False).status == 0

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self.tell(line)


def pull_line(checkout: Checkout, known: Registration) -> str:
    """Return the command that brings the landed work into the checkout."""
    bare = registrations.bare_path(checkout.folder, known)
    inside = bare.is_relative_to(checkout.top)
    where = bare.relative_to(checkout.top) if inside else bare
    return f"git pull --no-rebase {where} {known.branch}"
