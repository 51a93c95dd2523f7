"""Workflow runs: each is a process, which can outlive the forge.

A run is recorded before its process is started, and its pid right after. A restarted
forge finds each unfinished run by its pid, its files, or its environment, so no run is
started twice.
"""

import asyncio
import os
import signal
import subprocess
from datetime import timedelta
from typing import Final
from uuid import uuid4

from msgspec import Raw
from msgspec.structs import replace

from bot.door import session_access
from brat.forge.resources.account_resource import Access, Scope, User
from brat.forge.resources.check_resource import Conclusion
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import Artifact, Run
from brat.forge.service import artifact_files, job_checks, programs
from brat.forge.service.forge_context import ForgeContext
from brat.forge.service.run_environment import Place, environment
from brat.forge.service.run_launcher import How, find, launch, reap
from brat.forge.service.webhook_payloads import Events
from brat.forge.service.workflow_catalog import JOB_LOGIN, permissions_of, title_of
from brat.forge.storage.token_store import digest
from brat.forge.wire.timestamps import iso

TOKEN_LASTS: Final = timedelta(hours=6)
"""As long as a job may take."""


class Starter:
    """Starts the processes of workflow runs, follows them, and ends them when asked."""

    def __init__(self, context: ForgeContext, events: Events, how: How) -> None:
        """Start runs of the forge, and announce them to `events`."""
        self._context = context
        self._events = events
        self.how = how
        self._forge = context.forge
        self._store = context.forge.store
        self._cancels: dict[int, asyncio.Event] = {}

    def start(self) -> None:
        """Follow the runs that an earlier process started."""
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
        return bool(self.how.executor) and not self.how.tasks_only

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
            programs.end_tree(newest.pid, newest.born)

    def add_artifact(
        self, run: Run, name: str, packed: artifact_files.Packed
    ) -> Artifact:
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
        self._context.spawn(self._follow(repo, run), f"run {run.id}")

    async def _follow(self, repo: Repository, run: Run) -> None:
        """Follow one run to its end, from wherever an earlier process left it."""
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
                child.returncode = 0  # it lives on: keep Popen from warning
        await self._finish(repo, run, status)
        del self._cancels[run.id]

    def _begin(
        self, repo: Repository, run: Run
    ) -> tuple[Run, subprocess.Popen[bytes] | None]:
        """Start the process of a run, unless an earlier forge started it and died."""
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
                    f"{self.how.argv[0]} could not be started: {error}\n"
                )
        actor = self._events.renderer.who(run.actor)
        now = self._forge.now()
        run = replace(
            self._store.runs.get(run.id) or run,
            pid=pid,
            born=programs.born(pid) if pid is not None else None,
            status="in_progress",
            started_at=now,
            updated_at=now,
        )
        with self._store.change():
            self._store.runs.put(run)
            self._events.run(repo, actor, "in_progress", run)
        return run, child

    def _hidden(self) -> str:
        """Return the folders that hold tokens, joined: agents must not read them.

        brat's own folder holds the bot's folder and the registration.
        """
        ours = [self.how.feed.parent] if self.how.feed else []
        return os.pathsep.join(map(str, (self._forge.folder, *ours)))

    def _start(
        self, repo: Repository, run: Run, place: Place
    ) -> subprocess.Popen[bytes]:
        who = self._events.renderer.who(run.actor)
        place.prepare(
            Raw(run.payload.encode())
            if run.payload is not None
            else {
                "inputs": run.inputs,
                "ref": f"refs/heads/{run.branch}",
                "repository": self._events.renderer.repository(repo),
                "sender": self._events.renderer.user(who),
                "workflow": run.path,
            }
        )
        env = environment(self._context.site, repo, run, place, who.login)
        if self.how.executor:
            env |= self._handover(run, place)
        env["BRAT_HIDDEN"] = self._hidden()
        handed = {"BRAT_TOKEN_FD": self._token(repo, run).encode()}
        if self.how.feed is not None and not self.how.executor:
            session = run.inputs.get("session", "")
            told = session_access.session_handover(
                self.how.feed, repo.full_name, session
            )
            handed |= {"BRAT_FEED_FD": told} if told else {}
        return launch(self.how.argv, place, env, handed)

    def _handover(self, run: Run, place: Place) -> dict[str, str]:
        """Let another starter hand artifacts over by HTTP."""
        secret = uuid4().hex
        newest = self._store.runs.get(run.id) or run
        with self._store.change():
            self._store.runs.put(replace(newest, artifact_digest=digest(secret)))
        return {
            "BRAT_RUN_DIR": str(place.folder),
            "ACTIONS_RUNTIME_TOKEN": secret,
            "ACTIONS_RESULTS_URL": self._context.site.base + "/",
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
            await programs.gone(pid, born)
            ending.cancel()

    async def _end_when(self, asked: asyncio.Event, pid: int, born: float) -> None:
        await asked.wait()
        programs.tell(pid, born, signal.SIGINT)
        await asyncio.sleep(self.how.interrupt_s)
        programs.tell(pid, born, signal.SIGTERM)
        await asyncio.sleep(self.how.terminate_s)
        programs.end_tree(pid, born)

    async def _finish(self, repo: Repository, run: Run, status: int | None) -> None:
        place = self.place(run)
        target = place.artifact(artifact_files.RESULT)
        packed = await asyncio.to_thread(artifact_files.pack, place.result, target)
        if packed is not None:
            self.add_artifact(run, artifact_files.RESULT, packed)
        await asyncio.to_thread(place.clear)
        newest = self._store.runs.get(run.id) or run
        good = status == 0
        if status is None:  # an earlier forge's child: judge by its files
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
            actor = self._events.renderer.who(run.actor)
            job_checks.closed(self._events, repo, actor, done)
            self._events.run(repo, actor, "completed", done)
