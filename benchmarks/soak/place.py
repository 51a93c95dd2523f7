"""The processes and repositories of a soak."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.bare_loop import call
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import forge_process
from brat.repository.registration import BOT, BOT_FOLDER, FORGE_FOLDER

PERSON: Final = "you"
REPOSITORIES: Final = ("you/one", "you/two", "you/three")
_AGENT: Final = (
    "sleep 0.2; mkdir -p work/$BRAT_CONVOY && "
    "echo $BRAT_TASK > work/$BRAT_CONVOY/$BRAT_TASK.txt"
)
_SERVE: Final = (sys.executable, "-I", "-m", "brat", "bot", "serve")
_CONFIG: Final = f"""\
[engine.default]
type = "shell"
args = ['sh', '-c', '{_AGENT}']
max_sessions = 6
[witness]
attempts = 20
[mayor]
tasks = 50
"""
"""A killed runner costs an attempt, and no task may run out of them by chance."""


@dataclass(frozen=True)
class Place:
    """Where everything lies, and the tokens."""

    folder: Path
    tokens: Mapping[str, str]
    """By login."""

    def bare(self, repository: str) -> Path:
        """Return the forge's repository."""
        return self.folder / FORGE_FOLDER / "repos" / f"{repository}.git"

    @property
    def log(self) -> Path:
        """The file with what the processes say."""
        return self.folder / "soak.log"


def make(folder: Path) -> Place:
    """Put the repositories on a new forge."""
    source = _project(folder / "source")
    with Forge(folder / FORGE_FOLDER) as forge:
        forge.add_user(PERSON)
        forge.add_user(BOT, kind="Bot")
        for each in REPOSITORIES:
            forge.add_repository(each, source=source, branch="main")
            forge.grant(each, BOT, "write")
            forge.set_ci(each, Ci(command="ls work > /dev/null"))
        tokens = {login: forge.add_token(login) for login in (PERSON, BOT)}
    return Place(folder, tokens)


def _project(folder: Path) -> Path:
    (folder / ".brat").mkdir(parents=True)
    (folder / ".brat/config.toml").write_text(_CONFIG, encoding="utf-8")
    (folder / "work").mkdir()
    (folder / "work/README.md").write_text("# Work\n", encoding="utf-8")
    call("git", "init", "-q", "-b", "main", cwd=folder)
    call("git", "add", "--all", cwd=folder)
    call("git", "commit", "-q", "-m", "Begin", cwd=folder)
    return folder


@contextmanager
def forge(place: Place) -> Iterator[tuple[str, int]]:
    """Serve the forge; give its address and process id."""
    served = forge_process.forge(place.folder / FORGE_FOLDER, 0, log=place.log)
    with served as (url, process):
        yield url, process.pid


class Bot:
    """`brat bot serve`, alive or dead."""

    def __init__(self, place: Place, url: str) -> None:
        """Write its settings; nothing is started."""
        self.kills = 0
        self._log = place.log
        self._process: subprocess.Popen[bytes] | None = None
        self._file = place.folder / "bot.json"
        told = {
            "api_url": f"{url}/api/v3",
            "git_url": url,
            "token": place.tokens[BOT],
            "repositories": REPOSITORIES,
            "folder": str(place.folder / BOT_FOLDER),
            "push_gap_s": 0,
            "sweep_s": 1.0,
            "port": 0,
            "session_slack_s": 15,
            "check_start_s": 15,
            "artifact_grace_s": 0,
        }
        self._file.touch(mode=0o600)
        self._file.write_bytes(msgspec.json.encode(told))

    @property
    def pid(self) -> int:
        """The process; 0: there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start it; it serves a moment later."""
        with self._log.open("ab") as sink:
            self._process = subprocess.Popen(
                [*_SERVE, str(self._file), "--poll"],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill it with SIGKILL and start it again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self.kills += 1
        self.start()

    def stop(self) -> None:
        """End it in good order; safe to call twice."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None
