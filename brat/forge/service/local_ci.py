"""The forge's own CI: judges pushed commits by the command its owner chose.

A job is a check run named `ci` on exactly one commit. It runs in a fresh checkout that
holds no credentials, with an environment built from nothing, and in a box.
"""

import asyncio
import re
import shutil
from asyncio.subprocess import DEVNULL
from collections import defaultdict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import IO, Final

from msgspec.structs import replace

from brat.forge.resources.account_resource import ACTIONS_APP, User
from brat.forge.resources.check_resource import CheckRun, Conclusion, Job, Output
from brat.forge.resources.repository_resource import Repository
from brat.forge.service import programs
from brat.forge.service.ci_box import CiBox
from brat.forge.service.ci_checkout import WORK, KeptTrees, checkout
from brat.forge.service.ci_submodules import NoSubmodule
from brat.forge.service.ci_turns import Turns
from brat.forge.service.ci_verdict import GONE, NAME, tail, verdict
from brat.forge.service.forge_context import ForgeContext
from brat.forge.service.machine_cores import cores
from brat.forge.service.webhook_payloads import Events
from brat.forge.storage.git_storage import Move
from convoy.model import ids
from grite.errors import GitFailed, Unavailable

QUEUES: Final = ("brat/queue/**", "gh-readonly-queue/**")
"""Branches that are always judged: the bot's candidates, and those of a merge queue."""


class Judge:
    """Starts CI jobs and records their results."""

    def __init__(self, context: ForgeContext, events: Events) -> None:
        """Judge pushes to the forge; nothing starts before `start`."""
        self._context = context
        self._events = events
        self._store = context.forge.store
        self._turns: dict[int, Turns] = defaultdict(Turns)

    def start(self) -> None:
        """Restart the jobs that an earlier process left unfinished."""
        self._clear()
        for repo in self._store.repositories.all():
            for check in self._store.check_runs.all():
                if check.repo == repo.id and check.status != "completed":
                    self._again(repo, check)
            self.look_again(repo)

    def _clear(self) -> None:
        """Take what earlier jobs left out of the way; to remove it may take minutes."""
        folder = self._context.forge.folder
        left = folder / "ci-left"
        left.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            (folder / "ci").rename(left / token_hex(8))
        Thread(target=shutil.rmtree, args=(left, True), daemon=True).start()

    def look_again(self, repo: Repository) -> None:
        """Judge what nothing has judged, or only asked a person about who has acted."""
        self._turns[repo.id].most = repo.settings.ci.slots or cores()
        for check in self._store.check_runs.all():
            if check.repo == repo.id and self._asks(repo, check):
                self._again(repo, check)
        owner = self._events.renderer.owner(repo)
        for ref, target in self._context.forge.bare(repo).refs(ids.HEADS).items():
            if self.judges(repo, ref) and not self._known(repo, target):
                with self._store.change():
                    self._consider(repo, owner, ref, target)

    def _again(self, repo: Repository, check: CheckRun) -> None:
        """Begin a job anew, whatever became of it."""
        if check.job is None:
            return
        if check.job.pid is not None and check.job.born is not None:
            programs.end_tree(check.job.pid, check.job.born)
        job = Job(ref=check.job.ref)
        with self._store.change():
            check = self._store.check_runs.put(
                replace(check, status="queued", conclusion=None, job=job)
            )
        self._spawn(repo, check)

    def _asks(self, repo: Repository, check: CheckRun) -> bool:
        """Whether a job asked for a person, who may have acted meanwhile."""
        asked = check.job is not None and check.conclusion == "action_required"
        return asked and not self._overtaken(repo, check)

    def judges(self, repo: Repository, ref: str) -> bool:
        """Say whether pushes to a ref are judged."""
        patterns = (*QUEUES, *repo.settings.ci.branches)
        return ref.startswith(ids.HEADS) and any(
            _pattern(one).fullmatch(ref.removeprefix(ids.HEADS)) for one in patterns
        )

    def follow(self, repo: Repository, actor: User, moves: list[Move]) -> None:
        """Start jobs for what was pushed, and end those that nobody needs any more.

        Only inside `Store.change`.
        """
        for move in moves:
            if move.after is not None:
                self._consider(repo, actor, move.ref, move.after)
        for move in moves:
            if move.before is not None:
                self._drop(repo, move.ref, move.before)

    def _consider(self, repo: Repository, actor: User, ref: str, commit: str) -> None:
        """Start a job for a pushed commit, unless a job has judged or is judging it."""
        if repo.settings.ci.command is None or not self.judges(repo, ref):
            return
        if any(
            one.status != "completed" or one.conclusion == "success"
            for one in self._known(repo, commit)
        ):
            return
        check = self._store.check_runs.put(
            CheckRun(
                id=self._store.next_id(),
                repo=repo.id,
                head_sha=commit,
                name=NAME,
                app=ACTIONS_APP,
                started_at=self._context.forge.now(),
                job=Job(ref=ref.removeprefix(ids.HEADS)),
            )
        )
        self._events.check_run(repo, actor, "created", check)
        self._spawn(repo, check)

    def _drop(self, repo: Repository, ref: str, commit: str) -> None:
        """End the job of a commit that a queue's branch no longer shows, if it has one.

        A job that another branch needs goes on.
        """
        if not _is_queue(ref.removeprefix(ids.HEADS)) or self._is_shown(repo, commit):
            return
        for check in self._known(repo, commit):
            job = check.job
            if check.status == "completed" or job is None or not _is_queue(job.ref):
                continue
            if check.status == "queued":
                self._finish(repo, check, "cancelled", GONE)
            elif job.pid is not None and job.born is not None:
                programs.end_tree(job.pid, job.born)

    def _known(self, repo: Repository, commit: str) -> list[CheckRun]:
        checks = self._store.check_runs.of((repo.id, commit))
        return [one for one in checks if one.job is not None]

    def _spawn(self, repo: Repository, check: CheckRun) -> None:
        self._context.spawn(self._job(repo, check), f"ci {check.id}")

    async def _job(self, repo: Repository, check: CheckRun) -> None:
        turns = self._turns[repo.id]
        repo = self._store.repositories.get(repo.id) or repo
        turns.most = repo.settings.ci.slots or cores()
        async with turns.turn():
            now = self._store.check_runs.get(check.id)
            if now is None or now.status == "completed":
                return  # dropped while it waited
            repo = self._store.repositories.get(repo.id) or repo
            if self._overtaken(repo, check):
                self._finish(repo, check, "cancelled", GONE)
                return
            folder = self._context.forge.folder / "ci" / str(check.id)
            kept = KeptTrees(self._context.forge.folder / "ci-kept" / str(repo.id))
            await asyncio.to_thread(kept.take, folder)
            try:
                check = self._put(
                    replace(
                        check,
                        status="in_progress",
                        started_at=self._context.forge.now(),
                    )
                )
                conclusion, output = await self._run(repo, check, folder)
            finally:
                await asyncio.to_thread(kept.keep, folder, turns.most)
            self._finish(repo, check, conclusion, output)

    def _overtaken(self, repo: Repository, check: CheckRun) -> bool:
        """Say whether the candidate was replaced or dropped since its push."""
        ref = check.job.ref if check.job is not None else ""
        return _is_queue(ref) and not self._is_shown(repo, check.head_sha)

    def _is_shown(self, repo: Repository, commit: str) -> bool:
        """Say whether a branch that is judged stands at a commit."""
        refs = self._context.forge.bare(repo).refs(ids.HEADS)
        return any(
            tip == commit and self.judges(repo, ref) for ref, tip in refs.items()
        )

    async def _run(
        self, repo: Repository, check: CheckRun, folder: Path
    ) -> tuple[Conclusion, Output]:
        settings = repo.settings.ci
        bare = self._context.forge.bare(repo)
        try:
            own = Path(settings.checkout) if settings.checkout else None
            lacking = await asyncio.to_thread(
                checkout, bare, check.head_sha, folder, own
            )
        except (GitFailed, NoSubmodule, Unavailable) as error:
            return "action_required", Output(title=NAME, summary=f"{error}.")
        if self._overtaken(repo, check):
            return "cancelled", GONE
        box = CiBox(settings, folder, bare.path / "objects", self._context.forge.folder)
        with (folder / "log").open("wb+") as log:
            log.write("".join(f"{each}\n" for each in lacking).encode())
            log.flush()
            try:
                await asyncio.to_thread(box.open)
                status = await self._command(repo, check, (box, folder / WORK, log))
            except (OSError, RuntimeError) as error:
                return "action_required", Output(title=NAME, summary=f"{error}.")
            finally:
                report = await asyncio.to_thread(box.close)
            text = tail(log)
        if self._overtaken(repo, check):  # its command may have ended well all the same
            return "cancelled", GONE
        if why := report.refusal(is_killed=status is None or status < 0):
            return "action_required", Output(title=NAME, summary=why)
        return verdict(status, settings, text)

    async def _command(
        self, repo: Repository, check: CheckRun, where: tuple[CiBox, Path, IO[bytes]]
    ) -> int | None:
        """Run the command to its end and return its status; None: it took too long."""
        box, folder, log = where
        job = check.job
        assert job is not None  # noqa: S101  only jobs get here
        process = await asyncio.create_subprocess_exec(
            *box.argv,
            cwd=folder,
            env=box.env | {"GITHUB_SHA": check.head_sha, "GITHUB_REF_NAME": job.ref},
            pass_fds=box.fds,
            stdin=DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        since = programs.born(process.pid) or 0.0
        job = replace(job, pid=process.pid, born=since)
        self._put(replace(check, job=job))
        try:
            if self._overtaken(repo, check):  # while the process was started
                programs.end_tree(process.pid, since)
            async with asyncio.timeout(repo.settings.ci.timeout_s):
                return await process.wait()
        except TimeoutError:
            return None
        finally:
            programs.end_tree(process.pid, since)
            if process.returncode is None:
                await process.wait()

    def _finish(
        self, repo: Repository, check: CheckRun, conclusion: Conclusion, output: Output
    ) -> None:
        job = replace(check.job, pid=None, born=None) if check.job else None
        check = replace(
            check,
            status="completed",
            conclusion=conclusion,
            completed_at=self._context.forge.now(),
            output=output,
            job=job,
        )
        with self._store.change():
            self._store.check_runs.put(check)
            owner = self._events.renderer.owner(repo)
            self._events.check_run(repo, owner, "completed", check)

    def _put(self, check: CheckRun) -> CheckRun:
        with self._store.change():
            return self._store.check_runs.put(check)


def _is_queue(branch: str) -> bool:
    return any(_pattern(each).fullmatch(branch) for each in QUEUES)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """Read a branch pattern: `*` stays within a name, `**` crosses slashes."""
    parts = re.split(r"(\*\*|\*|\?)", glob)
    meaning = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))
