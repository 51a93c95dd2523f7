"""Workflow runs: each is a process, which can outlive the forge.

brat-task.yml always exists, and stands for our runner. No other file is run.

A run is recorded before its process is started, and its pid right after. A restarted
forge finds each unfinished run by its pid, its files, or its environment, so no run is
started twice.
"""

import asyncio
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import Any, Final

from msgspec import Raw

from bot.door import feed
from brat.forge.resources.forge_records import (
    TASK_WORKFLOW,
    Artifact,
    Conclusion,
    Repository,
    Run,
    User,
)
from brat.forge.resources.wire import Refused
from brat.forge.service import programs
from brat.forge.service.announcements import ForgeContext
from brat.forge.storage.forge_state import Forge

JOB_LOGIN: Final = "github-actions[bot]"
"""The account whose token a run gets."""
TASK_INPUTS: Final = ("session", "nonce", "log")
"""They stand in the title of a task's run, in this order."""


class WorkflowFiles:
    """What differs from file to file; an extension may run more of them."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    def can_run(self, _repo: Repository, path: str) -> bool:
        return path == TASK_WORKFLOW

    def title_of(self, _path: str, inputs: Mapping[str, str]) -> str:
        """Return what `run-name` makes of the inputs."""
        words = ("brat", *(inputs.get(name, "") for name in TASK_INPUTS))
        return " ".join(filter(None, words))

    def inputs_of(self, _path: str, asked: Mapping[str, Any]) -> dict[str, str]:
        """Return the inputs of a dispatch as text; 422 if they are others."""
        return named_inputs(asked, TASK_INPUTS, TASK_INPUTS)

    def token(self, repo: Repository, holder: User, _run: Run) -> str:
        """Make the token of a run: it may only read."""
        if not self.forge.may(repo, holder, "read"):
            self.forge.grant(repo.full_name, holder.login, "read")
        return self.forge.add_token(holder.login, scope="read", repo=repo.id)

    def handover(self, _run: Run) -> dict[str, str]:
        """Return what another starter is told of how to hand artifacts over."""
        return {}


def named_inputs(
    asked: Mapping[str, Any], known: tuple[str, ...], needed: tuple[str, ...]
) -> dict[str, str]:
    """Return inputs as text; 422 if one is unknown, or one that is needed is not."""
    unknown = sorted(asked.keys() - set(known))
    if unknown:
        raise Refused(422, f"Unexpected inputs provided: {unknown}")
    missing = [name for name in needed if not asked.get(name)]
    if missing:
        raise Refused(422, f"Required input '{missing[0]}' not provided")
    return {name: str(value) for name, value in asked.items()}


@dataclass(frozen=True, slots=True)
class How:
    """How runs are started and ended."""

    executor: tuple[str, ...] = ()
    """Another program that starts the runs; empty: our own runner."""
    interrupt_s: float = 7.5
    """How long a cancelled run has after SIGINT."""
    terminate_s: float = 2.5
    """How long it has after the SIGTERM that follows. Both are GitHub's:
    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
    """
    feed: Path | None = None
    """The folder of the bot on this machine that receives what sessions send live."""
    soon: bool = False
    """Whether sessions are to be expected: then what runs them is loaded at once."""

    @property
    def argv(self) -> tuple[str, ...]:
        return self.executor or programs.OUR_RUNNER


LIKE_GITHUB: Final = How()


LEFT: Final = "runs-left"
"""The folder of what is to be removed after runs."""
RESULT: Final = "brat-result"
"""The artifact made of a run's result folder."""


def pack(folder: Path, target: Path) -> str | None:
    """Zip the regular files in `folder`, not compressed, and return the digest.

    None: it has none.

    Links are not followed: what they point at was not made by the run. The zip appears
    whole or not at all, and packing again replaces it.
    """
    found = (Path(top, name) for top, _, names in os.walk(folder) for name in names)
    files = sorted(path for path in found if stat.S_ISREG(path.lstat().st_mode))
    if not files:
        return None
    making = target.with_suffix(".making")
    with zipfile.ZipFile(making, "w", zipfile.ZIP_STORED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    making.replace(target)
    return measure(target)


def measure(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


class Starter:
    """Starts the processes of workflow runs, follows them, and ends them when asked."""

    def __init__(
        self, context: ForgeContext, how: How, warm: programs.WarmRunner
    ) -> None:
        self._context = context
        self.how = how
        self.files = WorkflowFiles(context.forge)
        self._forge = context.forge
        self._store = context.forge.store
        self._cancels: dict[int, asyncio.Event] = {}
        self._warm = warm

    def start(self) -> None:
        """Follow the runs that an earlier process started; remove what it left."""
        left = [*(self._forge.folder / LEFT).glob("*")]
        Thread(target=_remove, args=(left,), daemon=True).start()
        for run in self._store.runs.all():
            repo = self._store.repositories.get(run.repo)
            if repo is not None and run.status != "completed":
                self._spawn(repo, run)

    def place(self, run: Run) -> programs.Place:
        return programs.Place(self._forge.folder / "runs" / str(run.id))

    def begin(
        self,
        repo: Repository,
        actor: User,
        *,
        path: str,
        branch: str,
        inputs: dict[str, str] | None = None,
        event: str = "workflow_dispatch",
        payload: str | None = None,
    ) -> Run:
        """Accept a run of a workflow file on the tip of `branch`; it starts soon."""
        given = inputs or {}
        tip = self._forge.bare(repo).tip(branch)
        assert tip is not None  # noqa: S101  the endpoint looked
        now = self._forge.now()
        with self._store.change():
            run = self._store.runs.add(
                Run(
                    repo=repo.id,
                    number=len(self._store.runs.of(repo.id)) + 1,
                    path=path,
                    title=self.files.title_of(path, given),
                    branch=branch,
                    head_sha=tip,
                    actor=actor.id,
                    inputs=given,
                    created_at=now,
                    updated_at=now,
                    event=event,
                    payload=payload,
                )
            )
            self._context.events.tell(repo, actor, "requested", run)
        self._spawn(repo, run)
        return run

    def cancel(self, run: Run, *, force: bool = False) -> None:
        """Ask a run to end: at once (`force`) or politely first; safe to call twice."""
        newest = self._store.runs.change(run, cancelling=True)
        asked = self._cancels.setdefault(run.id, asyncio.Event())
        asked.set()
        if force:
            programs.end_tree(newest.pid, newest.born)

    def add_artifact(self, run: Run, name: str, digest: str) -> Artifact:
        """Keep an artifact whose zip is in place; one of the same name is replaced."""
        same = [a for a in self._store.artifacts.of(run.id) if a.name == name]
        with self._store.change():
            return self._store.artifacts.put(
                Artifact(
                    id=same[0].id if same else self._store.next_id(),
                    run=run.id,
                    repo=run.repo,
                    name=name,
                    size=self.place(run).artifact(name).stat().st_size,
                    digest=digest,
                    created_at=self._forge.now(),
                )
            )

    # --- one run ------------------------------------------------------------------

    def _spawn(self, repo: Repository, run: Run) -> None:
        self._context.spawn(self._follow(repo, run), f"run {run.id}")

    async def _follow(self, repo: Repository, run: Run) -> None:
        """Follow one run to its end, from wherever an earlier process left it."""
        asked = self._cancels.setdefault(run.id, asyncio.Event())
        if run.cancelling:
            asked.set()
        child: subprocess.Popen[bytes] | programs.Forked | None = None
        if run.pid is None:
            is_new = not (self.how.executor or self.place(run).log.exists())
            forked = await self._warm.fork() if is_new else None
            run, child = self._begin(repo, run, forked)
        try:
            if run.pid is not None and run.born is not None:
                async with asyncio.TaskGroup() as tasks:
                    ending = self._end_when(asked, run.pid, run.born)
                    cancelling = tasks.create_task(ending)
                    await programs.gone(run.pid, run.born)
                    cancelling.cancel()
            status = programs.reap(child)
        finally:
            if isinstance(child, programs.Forked):
                child.close()
            elif child is not None and child.returncode is None:
                child.returncode = 0  # it lives on: keep Popen from warning
        await self._finish(repo, run, status)
        del self._cancels[run.id]

    def _begin(
        self, repo: Repository, run: Run, forked: programs.Forked | None
    ) -> tuple[Run, subprocess.Popen[bytes] | programs.Forked | None]:
        """Start the process of a run, unless an earlier forge started it and died.

        A forked one, whose environment tells nobody who it is, begins once it is known.
        """
        place = self.place(run)
        child: subprocess.Popen[bytes] | programs.Forked | None = forked
        pid = forked.pid if forked else None
        if place.log.exists():
            pid = programs.find(place)
        elif not forked:
            try:
                child = programs.launch(
                    self.how.argv, place, *self._order(repo, run, place)
                )
                pid = child.pid
            except OSError as error:  # no such starter, no more processes, disk full
                place.log.write_text(
                    f"{self.how.argv[0]} could not be started: {error}\n"
                )
        actor = self._context.renderer.who(run.actor)
        now = self._forge.now()
        born = programs.born(pid) if pid is not None else None
        with self._store.change():
            run = self._store.runs.change(
                run,
                pid=pid,
                born=born,
                status="in_progress",
                started_at=now,
                updated_at=now,
            )
            self._context.events.tell(repo, actor, "in_progress", run)
        if forked:
            with suppress(OSError):  # it has ended, or the disk is full: seen below
                forked.begin(place, *self._order(repo, run, place))
        return run, child

    def _order(
        self, repo: Repository, run: Run, place: programs.Place
    ) -> tuple[dict[str, str], dict[str, bytes]]:
        """Prepare the place of a run; return its environment, and what pipes hold."""
        who = self._context.renderer.who(run.actor)
        place.prepare(
            Raw(run.payload.encode())
            if run.payload is not None
            else {
                "inputs": run.inputs,
                "ref": f"refs/heads/{run.branch}",
                "repository": self._context.renderer.repository(repo),
                "sender": self._context.renderer.user(who),
                "workflow": run.path,
            }
        )
        env = programs.environment(self._context.site, repo, run, place)
        env |= self.files.handover(run)
        # Some hold tokens: brat's own folder has the bot's, and the registration.
        ours = [self.how.feed.parent] if self.how.feed else []
        hidden = self._forge.folder, *ours, *programs.told_places(programs.HIDDEN)
        env[programs.HIDDEN] = os.pathsep.join(map(str, hidden))
        if not self.how.executor:
            env["BRAT_FORGE"] = str(self._forge.bare(repo).path)
        handed = {"BRAT_TOKEN_FD": self._token(repo, run).encode()}
        if self.how.feed is not None and not self.how.executor:
            session = run.inputs.get("session", "")
            told = feed.session_handover(self.how.feed, repo.full_name, session)
            handed |= {"BRAT_FEED_FD": told} if told else {}
        return env, handed

    def _token(self, repo: Repository, run: Run) -> str:
        """Make the token of a run, and remember which it is."""
        with self._store.change():
            holder = self._forge.add_user(JOB_LOGIN, kind="Bot")
            secret = self.files.token(repo, holder, run)
            caller = self._forge.caller(secret)
            number = caller.token.id if caller is not None else None
            self._store.runs.change(run, token=number)
        return secret

    async def _end_when(self, asked: asyncio.Event, pid: int, born: float) -> None:
        """End a process when asked, as GitHub ends a cancelled job."""
        await asked.wait()
        programs.tell(pid, born, signal.SIGINT)
        await asyncio.sleep(self.how.interrupt_s)
        programs.tell(pid, born, signal.SIGTERM)
        await asyncio.sleep(self.how.terminate_s)
        programs.end_tree(pid, born)

    async def _finish(self, repo: Repository, run: Run, status: int | None) -> None:
        place = self.place(run)
        target = place.artifact(RESULT)
        digest = None
        with suppress(OSError):  # somebody removed its folder, or the disk is full
            digest = await asyncio.to_thread(pack, place.result, target)
        if digest is not None:
            self.add_artifact(run, RESULT, digest)
        # To remove it may take long: whoever waits for the run's end is told before.
        left = self._forge.folder / LEFT / token_hex(8)
        place.put_away(left)
        newest = self._store.runs.get(run.id) or run
        good = status == 0
        if status is None:  # an earlier forge's child: judge by its files
            good = (place.result / "result.json").is_file()
        conclusion: Conclusion = "success" if good else "failure"
        if newest.cancelling:
            conclusion = "cancelled"
        now = self._forge.now()
        with self._store.change():
            done = self._store.runs.change(
                run, status="completed", conclusion=conclusion, updated_at=now
            )
            token = self._store.tokens.get(done.token or 0)
            if token is not None:
                self._store.tokens.remove(token)
            actor = self._context.renderer.who(run.actor)
            self._context.events.tell(repo, actor, "completed", done)
        await asyncio.to_thread(_remove, [left])
