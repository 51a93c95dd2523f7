"""Workflow runs: a process each, that outlives the forge if it must.

A run is kept before its process is started, and its pid right after. A forge that
starts again finds each unfinished run by its pid, by what it left, or by its
environment, so none is started twice.
"""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from msgspec import Raw
from msgspec.structs import replace

from bot.feed import handover
from brat.forge import artifacts, job_checks, processes
from brat.forge.callers import digest
from brat.forge.events import Events
from brat.forge.ground import Ground
from brat.forge.launch import find, launch, reap
from brat.forge.moments import iso
from brat.forge.records import (
    Access,
    Artifact,
    Conclusion,
    Repository,
    Run,
    Scope,
    User,
)
from brat.forge.run_environment import Place, environment
from brat.forge.workflows import JOB_LOGIN, permissions_of, title_of

TOKEN_LASTS: Final = timedelta(hours=6)
"""As long as a job may."""


@dataclass(frozen=True, slots=True)
class How:
    """How runs are started and ended."""

    executor: tuple[str, ...] = ()
    """Another program that starts them; empty: our own runner."""
    tasks_only: bool = False
    """It runs no file but those of task runs: a bot on this machine does the rest."""
    interrupt_s: float = 7.5
    """How long a cancelled run has after SIGINT."""
    terminate_s: float = 2.5
    """And after the SIGTERM that comes then. Both are GitHub's:
    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
    """
    feed: Path | None = None
    """The folder of the bot on this machine that receives what sessions send live."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The program that is started."""
        return self.executor or (sys.executable, "-I", "-m", "runner")


LIKE_GITHUB: Final = How()


class Starter:
    """Starts the processes of workflow runs, follows them, and ends them when asked."""

    def __init__(self, ground: Ground, events: Events, how: How) -> None:
        """Start runs of the forge, and announce them to `events`."""
        self._ground = ground
        self._events = events
        self._how = how
        self._forge = ground.forge
        self._store = ground.forge.store
        self._cancels: dict[int, asyncio.Event] = {}

    def start(self) -> None:
        """Find again what an earlier process started."""
        for run in self._store.runs.all():
            repo = self._store.repositories.get(run.repo)
            if repo is not None and run.status != "completed":
                self._spawn(repo, run)

    def place(self, run: Run) -> Place:
        """Return the folder of a run."""
        return Place(self._forge.folder / "runs" / str(run.id))

    @property
    def executes_files(self) -> bool:
        """Whether any workflow file can be run, not only a session's."""
        return bool(self._how.executor) and not self._how.tasks_only

    def begin(  # noqa: PLR0913  what a run is
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
            run = Run(
                id=self._store.next_id(),
                repo=repo.id,
                number=len(self._store.runs.of(repo.id)) + 1,
                path=path,
                title=title_of(path, given),
                branch=branch,
                head_sha=tip,
                actor=actor.id,
                inputs=given,
                created_at=now,
                updated_at=now,
                event=event,
                payload=payload,
            )
            self._store.runs.put(run)
            job_checks.opened(self._events, repo, actor, run)
            self._events.run(repo, actor, "requested", run)
        self._spawn(repo, run)
        return run

    def cancel(self, run: Run, *, force: bool = False) -> None:
        """Ask a run to end: at once (`force`) or politely first; safe to call twice."""
        newest = self._store.runs.get(run.id) or run
        with self._store.change():
            self._store.runs.put(replace(newest, cancelling=True))
        asked = self._cancels.setdefault(run.id, asyncio.Event())
        asked.set()
        if force and newest.pid is not None and newest.born is not None:
            processes.end_tree(newest.pid, newest.born)

    def add_artifact(self, run: Run, name: str, packed: artifacts.Packed) -> Artifact:
        """Keep an artifact whose zip is in place; one of the same name is replaced."""
        same = [a for a in self._store.artifacts.of(run.id) if a.name == name]
        with self._store.change():
            return self._store.artifacts.put(
                Artifact(
                    id=same[0].id if same else self._store.next_id(),
                    run=run.id,
                    repo=run.repo,
                    name=name,
                    size=packed.size,
                    digest=packed.digest,
                    created_at=self._forge.now(),
                )
            )

    # --- one run ------------------------------------------------------------------

    def _spawn(self, repo: Repository, run: Run) -> None:
        self._ground.spawn(self._follow(repo, run), f"run {run.id}")

    async def _follow(self, repo: Repository, run: Run) -> None:
        """See one run to its end, wherever an earlier process left it."""
        asked = self._cancels.setdefault(run.id, asyncio.Event())
        if run.cancelling:
            asked.set()
        child: subprocess.Popen[bytes] | None = None
        if run.pid is None:
            run, child = self._begin(repo, run)
        try:
            if run.pid is not None and run.born is not None:
                await self._wait(run.pid, run.born, asked)
            status = reap(child)
        finally:
            if child is not None and child.returncode is None:
                child.returncode = 0  # it lives on: tell Popen not to warn of that
        await self._finish(repo, run, status)
        del self._cancels[run.id]

    def _begin(
        self, repo: Repository, run: Run
    ) -> tuple[Run, subprocess.Popen[bytes] | None]:
        """Start the process of a run, unless an earlier forge did and died."""
        place = self.place(run)
        child, pid = None, None
        if place.log.exists():
            pid = find(place)
        else:
            try:
                child = self._start(repo, run, place)
                pid = child.pid
            except OSError as error:  # no such starter, no more processes, disk full
                place.log.write_text(
                    f"{self._how.argv[0]} could not be started: {error}\n"
                )
        actor = self._events.faces.who(run.actor)
        now = self._forge.now()
        run = replace(
            self._store.runs.get(run.id) or run,
            pid=pid,
            born=processes.born(pid) if pid is not None else None,
            status="in_progress",
            started_at=now,
            updated_at=now,
        )
        with self._store.change():
            self._store.runs.put(run)
            self._events.run(repo, actor, "in_progress", run)
        return run, child

    def _hidden(self) -> str:
        """Return the folders with tokens, which agents must not read, for its variable.

        The bot's folder lies in brat's own, where the registration is, too.
        """
        ours = [self._how.feed.parent] if self._how.feed else []
        return os.pathsep.join(map(str, (self._forge.folder, *ours)))

    def _start(
        self, repo: Repository, run: Run, place: Place
    ) -> subprocess.Popen[bytes]:
        who = self._events.faces.who(run.actor)
        place.prepare(
            Raw(run.payload.encode())
            if run.payload is not None
            else {
                "inputs": run.inputs,
                "ref": f"refs/heads/{run.branch}",
                "repository": self._events.faces.repository(repo),
                "sender": self._events.faces.user(who),
                "workflow": run.path,
            }
        )
        env = environment(self._ground.site, repo, run, place, who.login)
        if self._how.executor:
            env |= self._handover(run, place)
        env["BRAT_HIDDEN"] = self._hidden()
        handed = {"BRAT_TOKEN_FD": self._token(repo, run).encode()}
        if self._how.feed is not None and not self._how.executor:
            session = run.inputs.get("session", "")
            told = handover.given(self._how.feed, repo.full_name, session)
            handed |= {"BRAT_FEED_FD": told} if told else {}
        return launch(self._how.argv, place, env, handed)

    def _handover(self, run: Run, place: Place) -> dict[str, str]:
        """Let another starter hand artifacts over by HTTP."""
        secret = uuid4().hex
        newest = self._store.runs.get(run.id) or run
        with self._store.change():
            self._store.runs.put(replace(newest, artifact_digest=digest(secret)))
        return {
            "BRAT_RUN_DIR": str(place.folder),
            "ACTIONS_RUNTIME_TOKEN": secret,
            "ACTIONS_RESULTS_URL": self._ground.site.base + "/",
        }

    def _token(self, repo: Repository, run: Run) -> str:
        """Make the token of a run."""
        allowed = permissions_of(run)
        role: Scope = "read" if allowed is None else "write"
        with self._store.change():
            holder = self._forge.add_user(JOB_LOGIN, kind="Bot")
            if not self._forge.may(repo, holder, role):
                self._forge.grant(repo.full_name, JOB_LOGIN, role)
            access = allowed and Access(
                installation=0,
                repos=(repo.id,),
                permissions=allowed,
                expires_at=iso(self._forge.clock() + TOKEN_LASTS),
            )
            secret = self._forge.keys.add(
                holder, scope=role, repo=repo.id, access=access or None
            )
            caller = self._forge.caller(secret)
            newest = self._store.runs.get(run.id) or run
            number = caller.token.id if caller is not None else None
            self._store.runs.put(replace(newest, token=number))
        return secret

    async def _wait(self, pid: int, born: float, asked: asyncio.Event) -> None:
        """Wait for a process; when asked, end it as GitHub ends a cancelled job."""
        async with asyncio.TaskGroup() as tasks:
            ending = tasks.create_task(self._end_when(asked, pid, born))
            await processes.gone(pid, born)
            ending.cancel()

    async def _end_when(self, asked: asyncio.Event, pid: int, born: float) -> None:
        await asked.wait()
        processes.tell(pid, born, signal.SIGINT)
        await asyncio.sleep(self._how.interrupt_s)
        processes.tell(pid, born, signal.SIGTERM)
        await asyncio.sleep(self._how.terminate_s)
        processes.end_tree(pid, born)

    async def _finish(self, repo: Repository, run: Run, status: int | None) -> None:
        place = self.place(run)
        target = place.artifact(artifacts.RESULT)
        packed = await asyncio.to_thread(artifacts.pack, place.result, target)
        if packed is not None:
            self.add_artifact(run, artifacts.RESULT, packed)
        await asyncio.to_thread(place.clear)
        newest = self._store.runs.get(run.id) or run
        good = status == 0
        if status is None:  # an earlier forge's child: only what it left can tell
            good = (place.result / "result.json").is_file()
        conclusion: Conclusion = "success" if good else "failure"
        if newest.cancelling:
            conclusion = "cancelled"
        done = replace(
            newest,
            status="completed",
            conclusion=conclusion,
            updated_at=self._forge.now(),
        )
        with self._store.change():
            self._store.runs.put(done)
            token = self._store.tokens.get(done.token or 0)
            if token is not None:
                self._store.tokens.remove(token)
            actor = self._events.faces.who(run.actor)
            job_checks.closed(self._events, repo, actor, done)
            self._events.run(repo, actor, "completed", done)
