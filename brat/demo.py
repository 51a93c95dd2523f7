"""`brat demo`: the whole loop on the sample project, told as it happens.

The forge and the bot are processes of their own, so that with `--chaos` the bot can be
killed like a machine that dies, and comes back on the same port; of the machine a run
and all its processes end at once. This process only opens the issue, watches the log
with git, and checks at the end that the default branch's tests pass.

The project is a small package with seven bugs. Its files lie as they are in
examples/demo-project, and in an installed brat beside the modules. The commit's author
and date are fixed, so that every run of the demo starts from the same commit id.
"""

import asyncio
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from rich.console import Group
from rich.live import Live
from rich.text import Text

from bot.dashboard.application import PORT
from brat.forge.resources.forge_records import Ci
from brat.local import forge_process, local_mode
from brat.local.forge_process import Process
from brat.local.local_mode import bot_settings, run_to_end
from brat.local.start_checks import model_keys
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration, Source
from brat.status import dashboard_server
from brat.status.status_screen import SHORT, convoy_table
from brat.terminal.console import err, say, write
from convoy.config import Config
from convoy.model.records import EngineSpec
from convoy.model.state import Convoy, Task
from convoy.text import counted, did_you_mean
from convoy.views import convoy_document, worked_s
from grite import git
from grite.errors import BratError, Unavailable
from runner.engines import ENGINES
from runner.engines.row import Call, program_of

CLIS: Final = {name: row for name, row in ENGINES.items() if row.install}
"""The engines that the demo can use besides its own shell script."""


def chosen(name: str, model: str | None) -> EngineSpec | None:
    """Return the engine that a person asks for; None: the demo's own shell script."""
    if name == "shell":
        if model is not None:
            raise BratError("--model requires --engine, such as --engine claude-code")
        return None
    row = CLIS.get(name)
    if row is None:
        known = ", ".join(["shell", *CLIS])
        hint = did_you_mean(name, CLIS)
        raise BratError(f"the demo has no engine {name!r}; it supports {known}{hint}")
    if model is None:
        raise BratError(
            f"--engine requires --model, such as --model {row.sample_model}"
        )
    spec = EngineSpec(type=name, model=model)
    program = program_of(row, spec)
    if shutil.which(program) is None:
        raise BratError(
            f"{program} is not installed: run `{row.install}`, then try again"
        )
    call = Call(row, spec).with_key(model_keys(Config()))
    if missing := call.missing_key():
        raise BratError(
            f"{missing} Without --engine, a script takes the agent's place."
        )
    return spec


BRANCH = "main"
_SHELL = 'type = "shell"\nargs = ["sh", ".brat/agent.sh"]\n'
_GIT_S: Final = 30.0
_BRAT = Path(__file__).parent
_SOURCES = (_BRAT / "demo-project", _BRAT.parent / "examples/demo-project")
AUTHOR = {
    "GIT_AUTHOR_NAME": "brat demo",
    "GIT_AUTHOR_EMAIL": "demo@brat.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "brat demo",
    "GIT_COMMITTER_EMAIL": "demo@brat.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


@dataclass(frozen=True)
class Sample:
    """The project as written, and the issue that asks for its bugs to be fixed."""

    path: Path
    """The repository's work tree, clean, with one commit on `BRANCH`."""
    ci_command: str
    """As in its .brat/config.toml: green while `known_bugs/` tells the truth."""
    issue_title: str
    issue_text: str
    """Markdown with a list of seven tasks."""


def write_sample(folder: Path, engine: EngineSpec | None = None) -> Sample:
    """Write the project into `folder`, which is made where it is missing.

    With an `engine` that does the tasks it comes without the script and its patches.

    Raises:
        FileExistsError: there is something in `folder`; nothing was written.
        grite.errors.BratError: git failed; what was written is left there.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: choose an empty or new folder")
    source = next(folder for folder in _SOURCES if folder.is_dir())
    _copy(source / "project", folder)
    if engine is not None:
        own = folder / ".brat"
        shutil.rmtree(own / "patches")  # the answers
        (own / "agent.sh").unlink()
        file = own / "config.toml"
        _, _, said = file.read_text(encoding="utf-8").partition("\n\n")
        named = f'type = "{engine.type}"\nmodel = {json.dumps(engine.model)}\n'
        file.write_text(said.replace(_SHELL, named), encoding="utf-8")
    for args in (
        ["init", "--quiet", "--template=", f"--initial-branch={BRANCH}"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=Sign people in with tokens"],
    ):
        git.run(args, cwd=folder, deadline_s=_GIT_S, env=AUTHOR)
    config = tomllib.loads((folder / ".brat/config.toml").read_text(encoding="utf-8"))
    issue = (source / "issue.md").read_text(encoding="utf-8")
    title, _, text = issue.partition("\n")
    return Sample(
        path=folder,
        ci_command=config["ci"]["command"],
        issue_title=title.removeprefix("# "),
        issue_text=text.lstrip("\n"),
    )


def _copy(source: Path, target: Path) -> None:
    """Copy what files hold, not their rights: nobody may write an installed brat."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name == "__pycache__":  # installers compile what a wheel holds
            continue
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())


_FILE: Final = "bot.json"


class BotProcess:
    def __init__(self, folder: Path, known: Registration, url: str) -> None:
        self.port = 0
        self._folder = folder
        self._process: Process | None = None
        alone = bot_settings(folder, known, url)
        settings = alone.model_copy(update={"ends_with_stdin": True})
        content = settings.model_dump_json().encode()
        registrations.write_private(folder / _FILE, content)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    def start(self) -> None:
        """Start it and wait until its door is open."""
        log = self._folder / "bot.log"
        file = str(self._folder / _FILE)
        self._process = Process("bot", file, str(self.port), log=log)
        self.port = int(self._process.ready())

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End it in good order; safe to call twice."""
        if self._process is not None:
            self._process.stop()
            self._process = None


WAITS: Final = ["sleep", "86399"]
"""The command an agent waits with; the agent's script holds the same command."""
END_S: Final = 5.0
FORKING: Final = ["-m", "brat.local.warm_runner"]
RUNNERS: Final = (["-m", "runner"], FORKING)
"""How the processes of a run were started; the outermost is its guard, but where the
one above it forks them."""


def lose(folder: Path) -> None:
    """Kill each run below `folder` whose agent waits for it; safe to call often."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            place = Path(process.cwd()) if process.cmdline() == WAITS else None
            if place is None or not place.is_relative_to(folder):
                continue
            above = [one for one in process.parents() if one.cmdline()[-2:] in RUNNERS]
            was_forked = above and above[-1].cmdline()[-2:] == FORKING
            for guard in above[:-1][-1:] if was_forked else above[-1:]:
                for each in (guard, *guard.children(recursive=True)):
                    with suppress(psutil.Error):
                        each.kill()


def end_all(folder: Path) -> None:
    """Kill every process that works below `folder`: runs outlive their forge."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(folder):
                process.kill()
                process.wait(END_S)


PERSON: Final = "you"
ENGINE: Final = (
    "engine: shell, a script that stands in for an agent, so you need no account. To "
    "use a real agent, run brat demo with --engine and --model."
)
REAL: Final = "engine: {0.type} with the model {0.model}, billed to your key"
GOES: Final = "to keep everything and look at it with plain git, use --dir DIR"
DEADLINE_S: Final = 240.0
REAL_S: Final = 7200.0
STUCK_S: Final = 60.0
"""The demo waits this long for a blocked task while nothing else goes on."""
LOOK_S: Final = 0.15
RELEASE_S: Final = 5.0
LOCKS: Final = "refs/grite/locks/"
CHAOS_S: Final = (0.4, 2.5)
"""The bot lives this long between two kills: at least, at most."""
TESTS_S: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class Stage:
    folder: Path
    sample: Sample
    known: Registration
    engine: EngineSpec | None
    """The real CLI that does the tasks; None: a script does."""

    @property
    def deadline_s(self) -> float:
        return REAL_S if self.engine else DEADLINE_S

    @property
    def bare(self) -> Path:
        return registrations.bare_path(self.folder, self.known)


def tell(
    directory: Path | None,
    engine: str,
    model: str | None,
    *,
    as_json: bool,
    chaos: bool,
    seed: int | None,
    ui: bool,
) -> int:
    """Run the demo; return 0 only when every task merged and the tests pass.

    Without a directory it lies in a temporary folder; with the engine `shell` a script
    does the tasks. `chaos` kills the bot at random moments; `ui` serves the dashboard,
    also after the end, until Enter is pressed.
    """
    spec = chosen(engine, model)
    if seed is not None and not chaos:
        raise BratError("--seed requires --chaos")
    git.require_version()
    # The sample's CI and agents run `python -m pytest`, and here brat brings both.
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join((own, *os.get_exec_path()))  # noqa: TID251  as above
    with _folder(directory) as folder:
        project = write_sample(folder / "project", spec)
        source = Source(path=project.path, branch=BRANCH, name="auth", person=PERSON)
        known = registrations.register(folder, source)
        registrations.set_ci(folder, known, Ci(command=project.ci_command))
        stage = Stage(folder=folder, sample=project, known=known, engine=spec)
        say(REAL.format(spec) if spec else ENGINE)
        begun = time.monotonic()
        drawn = None
        if chaos:
            seed = secrets.randbelow(1_000_000) if seed is None else seed
            say(f"chaos: --seed {seed}")
            drawn = random.Random(seed)  # noqa: S311  it only has to be repeatable
        kills = run_to_end(_shown(stage, drawn, live=not as_json, ui=ui))
        wall_s = time.monotonic() - begun
        reader = Reader(stage.bare)
        convoy = next(iter(reader.read().convoys.values()))
        passed = _tests_pass(stage)
        if as_json:
            told = {
                "convoy": convoy.name,
                "tasks": convoy_document(convoy)["tasks"],
                "wal_head": reader.state.moment.commit,
                "wall_seconds": round(wall_s, 2),
                "repository": str(stage.bare),
            }
            write(json.dumps(told))
        for line in lines(convoy, wall_s, kills):
            say(line)
        ways = (
            "to see the log and the result, use plain git or brat:",
            f"  git -C {stage.bare} log --stat refs/grite/wal",
            f"  git -C {stage.bare} log --oneline --graph {convoy.target}",
            f"  brat log show --repo {stage.bare}",
        )
        for line in ways if directory else (GOES,):
            say(line)
        say(f"tests on {BRANCH}: {'pass' if passed else 'FAIL'}")
        merged = all(task.state == "merged" for task in convoy.tasks)
        return 0 if passed and merged and convoy.state == "complete" else 1


@contextmanager
def _folder(directory: Path | None) -> Iterator[Path]:
    if directory is not None:
        if directory.exists() and any(directory.iterdir()):
            raise BratError(f"{directory} is not empty: choose an empty or new folder")
        directory.mkdir(parents=True, exist_ok=True)
    folder = (directory or Path(tempfile.mkdtemp(prefix="brat-demo-"))).resolve()
    try:
        yield folder
    finally:
        end_all(folder)
        if directory is None:
            shutil.rmtree(folder, ignore_errors=True)


async def _shown(
    stage: Stage, drawn: random.Random | None, *, live: bool, ui: bool
) -> int:
    """Run the demo, with the dashboard if wanted; return how often the bot died."""
    if not ui:
        return await _play(stage, drawn, live=live)
    named, folder = stage.known.repository, stage.folder
    async with dashboard_server.over(stage.bare, named, PORT, folder) as url:
        say(f"dashboard: {url}")
        kills = await _play(stage, drawn, live=live)
        say("the demo has ended; the dashboard keeps running until you press Enter")
        loop, entered = asyncio.get_running_loop(), asyncio.Event()

        def read() -> None:
            os.read(0, 1024)
            loop.call_soon_threadsafe(entered.set)

        # In a thread that keeps nobody from leaving.
        threading.Thread(target=read, name="enter", daemon=True).start()
        await entered.wait()
        return kills


async def _play(stage: Stage, drawn: random.Random | None, *, live: bool) -> int:
    """Open the issue and wait for the convoy's end; return how often the bot died."""
    folder = stage.folder
    options = ("--feed", str(folder / BOT_FOLDER))
    log = folder / "forge.log"
    secrets = model_keys(Config()) if stage.engine else {}
    with forge_process.forge(
        folder / FORGE_FOLDER, 0, *options, log=log, secrets=secrets
    ) as (url, _):
        bot = BotProcess(folder, stage.known, url)
        bot.start()
        try:
            await local_mode.point_hook(url, stage.known, bot.port)
            async with local_mode.person(url, stage.known) as github:
                issue = await github.open_issue(
                    stage.sample.issue_title, stage.sample.issue_text
                )
                await github.relabel(issue, {"brat"}, set())
            say(f'opened issue #{issue} "{stage.sample.issue_title}" (label brat)')
            return await _watch(stage, bot, drawn, live=live)
        finally:
            bot.stop()


async def _watch(
    stage: Stage, bot: BotProcess, drawn: random.Random | None, *, live: bool
) -> int:
    reader = Reader(stage.bare)
    kills = 0
    deadline = time.monotonic() + stage.deadline_s
    next_kill = _later(drawn)
    moved_at = time.monotonic()
    screen = Live(console=err, transient=True, refresh_per_second=8) if live else None
    with screen or nullcontext():
        while time.monotonic() < deadline:
            state = reader.read()
            convoy = next(iter(state.convoys.values()), None)
            if screen and convoy:
                died = f"the bot was killed {counted(kills, 'time')}" if kills else ""
                screen.update(Group(convoy_table(convoy), Text(died, style="red")))
            if convoy and convoy.ended and not state.intents:
                released = time.monotonic() + RELEASE_S
                while time.monotonic() < released:  # it owes nothing: its lease goes
                    if not git.run(["for-each-ref", LOCKS], cwd=stage.bare).stdout:
                        break
                    await asyncio.sleep(LOOK_S)
                return kills
            moved_at = time.monotonic() if _moves(convoy) else moved_at
            if time.monotonic() - moved_at > STUCK_S:
                return kills
            if drawn is not None and time.monotonic() > next_kill:
                bot.kill()
                kills += 1
                bot.start()
                next_kill = _later(drawn)
            await asyncio.to_thread(lose, stage.folder)
            if not bot.running:
                raise Unavailable(
                    f"the bot stopped unexpectedly: see {stage.folder / 'bot.log'}"
                )
            await asyncio.sleep(LOOK_S)
    raise Unavailable(f"the convoy did not finish within {stage.deadline_s:g} s")


def _moves(convoy: Convoy | None) -> bool:
    """Return whether work goes on, or at least no task waits for a person."""
    states = {task.state for task in convoy.tasks} if convoy else set()
    return "blocked" not in states or not states.isdisjoint(("running", "needs-review"))


def _later(drawn: random.Random | None) -> float:
    return time.monotonic() + (drawn.uniform(*CHAOS_S) if drawn else DEADLINE_S)


def _tests_pass(stage: Stage) -> bool:
    """Run the project's own tests on the default branch's tip, in a fresh checkout."""
    with tempfile.TemporaryDirectory(prefix="brat-tests-") as folder:
        where = str(Path(folder) / "checkout")
        git.run(["clone", "--quiet", "--no-hardlinks", str(stage.bare), where])
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=where,
            capture_output=True,
            timeout=TESTS_S,
            check=False,
            env={"PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
    return done.returncode == 0


def lines(convoy: Convoy, wall_s: float, kills: int) -> list[str]:
    said = ["", f"convoy {convoy.name}: {convoy.state}", "", _HEAD]
    said += [_task(task) for task in convoy.tasks]
    said.append("")
    said += [
        f"  task {task.number} was tried again: {_told(note)}"
        for task in convoy.tasks
        for note in task.notes
    ]
    said += [
        f"  task {task.number} is blocked: {_told(task.why)}"
        for task in convoy.tasks
        if task.state == "blocked"
    ]
    if kills:
        said.append(f"  the bot was killed {counted(kills, 'time')}")
    alone_s = worked_s(convoy)
    faster = f"one at a time: {alone_s:.0f} s, with brat: {wall_s:.0f} s"
    return [*said, "", faster if wall_s < alone_s else f"total: {wall_s:.0f} s"]


_HEAD = "  #  state   tries  pull  landed as     time  task"


def _task(task: Task) -> str:
    seconds = max(0, task.ended_at - task.begun_at) / 1000
    pull = f"#{task.pull}" if task.pull else "-"
    landed = (task.landed or "-")[:SHORT]
    return (
        f"  {task.number:<2} {task.state:7} {task.started:<6} {pull:5} {landed:10} "
        f"{seconds:5.1f} s  {task.spec.title}"
    )


def _told(note: str) -> str:
    """Return the most telling line of a reason."""
    rows = [" ".join(row.split()) for row in note.splitlines() if row.strip()]
    failed = [row for row in rows if row.startswith("FAILED ")]
    first = rows[0] if rows else ""
    return f"{first.partition(':')[0]}: {failed[0]}" if failed else first
