"""Lets the configuration that lies in the person's checkout count, as it is edited."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.roles.bot_context import BotContext
from brat.forge.resources.repository_resource import Ci
from brat.repository.state_files import CONFIG
from brat.terminal.console import Tell
from convoy.config import ConfigError
from convoy.model import ids
from grite import git


@dataclass(kw_only=True)
class CheckoutConfig:
    """Looks at one checkout's file; compares it when it or the forge's has changed."""

    file: Path
    bare: Path
    """The forge's repository."""
    ci_now: Callable[[], Ci]
    """Returns how candidates are to be judged, by the file; may raise `ConfigError`."""
    ci: Ci
    """How the forge was told to judge them."""
    tell_forge: Callable[[Ci], None]
    """Tells the forge how to judge them from now on; may raise `Unavailable`."""
    tell: Tell
    _mark: object = None
    _differs: bool = False

    def look(self, context: BotContext) -> None:
        """Use the file where it is not what is committed; cheap while nothing changed.

        The person is told when that begins and ends.

        Raises:
            Unavailable: the forge could not be told of a changed `[ci]`; look again.
        """
        branch = ids.HEADS + context.mirror.default_branch
        mark = (context.mirror.refs.get(branch), self._marked())
        if mark == self._mark:
            return
        first = self._mark is None
        differs = mark[1] is not None and self._as_it_lies() != self._committed()
        if differs and not self._differs:
            self.tell(f"using {self.file} as it lies there, not as committed")
        elif self._differs and not differs:
            self.tell(f"using {CONFIG} as committed")
        self._differs = differs
        update = {"config_file": self.file if differs else None}
        context.settings = context.settings.model_copy(update=update)
        if not first:
            self._look_at_ci()
        self._mark = mark

    def _look_at_ci(self) -> None:
        try:
            found = self.ci_now()
        except ConfigError as error:
            self.tell(f"{error}")
            return
        if found != self.ci:
            self.tell_forge(found)
            self.ci = found
            how = f"`{found.command}` judges" if found.command else "nothing judges"
            self.tell(f"[ci] has changed: {how} what lands from now on")

    def _marked(self) -> object:
        try:
            found = self.file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _as_it_lies(self) -> bytes | None:
        """Return what the file holds; None: it cannot be read, as its reader says."""
        try:
            return self.file.read_bytes()
        except OSError:
            return None

    def _committed(self) -> bytes:
        """Return the default branch's; it may be known before a mirror has seen it."""
        args = ["cat-file", "blob", f"HEAD:{CONFIG}"]
        shown = git.run(args, cwd=self.bare, check=False)
        return shown.stdout if shown.status == 0 else b""
