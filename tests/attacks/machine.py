"""A machine that runs a job as GitHub's do, with all that no agent may have on it."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import runner
from tests.attacks.evil.targets import Targets
from tests.attacks.surroundings import SECRET, SYSTEM, Surroundings, surroundings
from tests.runner.proxy.world import Server, server

PROGRAM = "tools/attack.py"
EVIL = Path(__file__).parent / "evil"
START = """\
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from tests.attacks.evil.agent import main
main(*sys.argv[1:])
"""
IN_HOME = {
    ".netrc": "machine github.com login x password %s\n",
    ".git-credentials": "https://x:%s@github.com\n",
    ".gitconfig": (
        "[user]\n\tname = Pat Person\n\temail = pat@example.org\n"
        '[credential]\n\thelper = "!echo username=x; echo password=%s; :"\n'
    ),
    ".config/gh/hosts.yml": "github.com:\n  oauth_token: %s\n",
    ".ssh/id_ed25519": "%s\n",
    ".docker/config.json": '{"auths": {"ghcr.io": {"auth": "%s"}}}',
    ".config/some-tool-nobody-listed/token": "%s\n",
    "other-project/.env": "TOKEN=%s\n",
    "lib/own.py": "TOKEN = %r\n",
}
"""What programs leave in the home of who runs the job."""
CREDENTIALS = ".credentials", ".credentials_rsaparams", ".runner"
"""A self-hosted runner's own, in the folder that it was unpacked to.
https://github.com/actions/runner/blob/main/src/Runner.Common/Constants.cs
"""
COMMANDS = {
    "GITHUB_ENV": "set_env",
    "GITHUB_PATH": "add_path",
    "GITHUB_OUTPUT": "set_output",
    "GITHUB_STATE": "save_state",
    "GITHUB_STEP_SUMMARY": "step_summary",
}
STEP_SECRETS = ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "AWS_SECRET_ACCESS_KEY")
PREFIX = "brat-attack-"


@dataclass
class Machine:
    """A machine, the attack that is brought to it, and what reaches it from inside."""

    root: Path
    at: Targets
    around: Surroundings
    vendor: Server
    python: str = sys.executable

    def variables(self) -> dict[str, str]:
        """Return what a job's step finds in its environment."""
        path = [*self.at.programs, str(self.root / "programs"), *os.get_exec_path()]
        named = dict(zip(COMMANDS, self.at.commands, strict=True))
        return {
            "HOME": self.at.home,
            "PATH": os.pathsep.join(path),
            "RUNNER_TEMP": self.at.temp,
            "RUNNER_TOOL_CACHE": self.at.cache,
            "GITHUB_WORKSPACE": self.at.workspace,
            "BRAT_RESULT": self.at.result,
            "BRAT_MODEL_URL": self.vendor.url,
            **dict.fromkeys(("ANTHROPIC_API_KEY", "BRAT_TOKEN"), SECRET),
            **dict.fromkeys(STEP_SECRETS, SECRET),
            **named,
        }

    def files(self) -> dict[str, str]:
        """Return what an earlier attempt left in the tree: the attack itself."""
        inside = "tools/tests/attacks/evil"
        found = {
            f"{inside}/{each.name}": each.read_text() for each in EVIL.glob("*.py")
        }
        found[f"{inside}/targets.json"] = self.at.text()
        found[".brat/setup.sh"] = f"#!/bin/sh\n{self.command('setup')}\n"
        return found | {PROGRAM: START}

    def command(self, *words: str) -> str:
        return " ".join((self.python, "-I", PROGRAM, *words))


@contextmanager
def machine() -> Iterator[Machine]:
    """Make a machine of a hosted runner's kind; nothing of it is left afterwards."""
    with fresh() as root, surroundings(root) as around, server() as model:
        home, work = root / "home", root / "runner/_work"
        commands = (
            work / "_temp/_runner_file_commands" / each for each in COMMANDS.values()
        )
        at = targets(
            around,
            home=home,
            programs=(home / ".local/bin", root / "venv/bin"),
            commands=tuple(commands),
            later=(
                work / "_actions/actions/upload-artifact/v4/dist/upload/index.js",
                work / "_tool/node/bin/node",
            ),
            credentials=tuple(root / "runner" / each for each in CREDENTIALS),
            temp=work / "_temp",
            workspace=work / "hello/hello",
            result=work / "_temp/brat-result",
            cache=work / "_tool",
        )
        (root / "programs").mkdir()
        furnish_home(home)
        _furnish(at)
        yield Machine(root, at, around, model)


@contextmanager
def fresh() -> Iterator[Path]:
    """Give an empty folder, where everybody may look."""
    made = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
    with made as root:
        Path(root).chmod(0o755)
        yield Path(root)


def targets(around: Surroundings, **paths: Path | tuple[Path, ...]) -> Targets:
    told: dict[str, str | tuple[str, ...]] = {
        name: str(each) if isinstance(each, Path) else tuple(map(str, each))
        for name, each in paths.items()
    }
    return Targets(
        marker=f"{paths['home']}/marker",
        secret=SECRET.encode().hex(),
        system=(*SYSTEM, str(Path(sys.executable).parent)),
        shared=str(around.shared),
        memory=str(around.memory),
        key=around.key,
        code=str(Path(runner.__path__[0], "proxy/egress_server.py")),
        socket=str(around.daemon),
        abstract=around.name,
        doors={name: each.port for name, each in around.doors.items()},
        udp=int(around.datagrams.getsockname()[1]),
        victim=around.victim,
        logins=tuple(map(str, around.logins)),
        **told,  # type: ignore[arg-type] # each has its kind
    )


def furnish_home(home: Path) -> None:
    for name, text in IN_HOME.items():
        _laid(Path(home, name), text % SECRET)


def _furnish(at: Targets) -> None:
    for each in at.credentials:
        _laid(Path(each), f'{{"Data": "{SECRET}"}}')
    for each in (*at.commands, *at.later):
        _laid(Path(each), "")
    for each in (*at.programs, at.workspace, at.cache):
        Path(each).mkdir(parents=True, exist_ok=True)


def _laid(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
