"""The forge's own CI: judges pushed commits by the command its owner chose.

A job is a check run named `ci` on exactly one commit. It runs in a fresh checkout that
holds no credentials, with an environment built from nothing, and in a box.
"""

import asyncio
import os
import re
import shutil
import signal
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import IO, Final

from msgspec.structs import replace

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    CheckRun,
    Ci,
    Conclusion,
    Job,
    Output,
    Repository,
    User,
)
from brat.forge.service import programs
from brat.forge.service.announcements import ForgeContext
from brat.forge.service.ci_checkout import WORK, CiBox, checkout, keep_tree, take_kept
from brat.forge.service.programs import WarmRunner
from brat.forge.storage.git_storage import Bare, Move
from convoy.model import ids
from convoy.text.project_tests import failing_tests, headline
from grite import git
from grite.errors import GitFailed, Unavailable
from runner.session.proxy_client import unreached

QUEUES: Final = (f"{ids.HEADS}{ids.QUEUE}", f"{ids.HEADS}gh-readonly-queue/")
"""The branches that are judged: the bot's candidates, and those of a merge queue."""


@dataclass
class Ground:
    """The commit of the default branch that candidates stand on, as CI judges it."""

    commit: str
    check: int
    alike: int = 0
    """How many candidates failed as it does, since that is known."""


class Judge:
    def __init__(self, context: ForgeContext, warm: WarmRunner) -> None:
        self._context = context
        self._warm = warm
        self._store = context.forge.store
        self._slots: dict[int, int] = defaultdict(int)
        self._turns = defaultdict[int, asyncio.Semaphore](lambda: asyncio.Semaphore(0))
        self._grounds: dict[int, Ground] = {}
        self._green: dict[int, CheckRun] = {}
        """The job of each repository that was green last, and when it ended."""
        self._awaited: dict[int, asyncio.Event] = {}

    def start(self) -> None:
        """Restart the jobs that an earlier process left unfinished.

        What they left is taken out of the way: to remove it may take minutes.
        """
        folder = self._context.forge.folder
        left = folder / "ci-left"
        left.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            (folder / "ci").rename(left / token_hex(8))
        Thread(target=shutil.rmtree, args=(left, True), daemon=True).start()
        repositories = self._store.repositories
        for check in self._store.check_runs.all():
            repo = repositories.get(check.repo)
            if repo and check.status != "completed":
                self._again(repo, check)
        for repo in repositories.all():
            self.look_again(repo)

    def look_again(self, repo: Repository) -> None:
        """Judge what nothing has judged, or only asked a person about who has acted."""
        self._allow(repo)
        self._grounds.pop(repo.id, None)
        for check in self._store.check_runs.all():
            asked = check.job is not None and check.conclusion == "action_required"
            if check.repo == repo.id and asked and not self._overtaken(repo, check):
                self._again(repo, check)
        owner = self._context.renderer.owner(repo)
        for ref, target in self._context.forge.bare(repo).refs(ids.HEADS).items():
            if ref.startswith(QUEUES) and not self._known(repo, target):
                self._consider(repo, owner, ref, target)

    def _allow(self, repo: Repository) -> None:
        """Let as many jobs run as are allowed; those that run already go on."""
        most, turns = repo.ci.slots or cores(), self._turns[repo.id]
        for _ in range(self._slots[repo.id], most):
            turns.release()
        for _ in range(most, self._slots[repo.id]):
            self._context.spawn(turns.acquire(), "one slot less")
        self._slots[repo.id] = most

    def _again(self, repo: Repository, check: CheckRun) -> None:
        """Begin a job anew, whatever became of it."""
        if check.job is None:
            return
        programs.end_tree(check.job.pid, check.job.born)
        job = Job(ref=check.job.ref)
        checks = self._store.check_runs
        check = checks.change(check, status="queued", conclusion=None, job=job)
        self._spawn(repo, check)

    def follow(self, repo: Repository, actor: User, moves: list[Move]) -> None:
        """Start jobs for a push, end those nobody needs; only inside `Store.change`."""
        for move in moves:
            if move.after is not None:
                self._consider(repo, actor, move.ref, move.after)
        for move in moves:
            if move.before is not None:
                self._drop(repo, move.ref, move.before)

    def _consider(self, repo: Repository, actor: User, ref: str, commit: str) -> None:
        """Start a job for a pushed commit, unless a job has judged or is judging it."""
        if repo.ci.command is None or not ref.startswith(QUEUES):
            return
        if any(
            one.status != "completed" or one.conclusion == "success"
            for one in self._known(repo, commit)
        ):
            return
        self._queue(repo, actor, ref.removeprefix(ids.HEADS), commit)

    def _queue(
        self, repo: Repository, actor: User, branch: str, commit: str
    ) -> CheckRun:
        check = CheckRun(
            repo=repo.id,
            head_sha=commit,
            name=NAME,
            app=ACTIONS_APP,
            started_at=self._context.forge.now(),
            job=Job(ref=branch),
        )
        with self._store.change():
            check = self._store.check_runs.add(check)
            self._context.events.tell(repo, actor, "created", check)
        self._spawn(repo, check)
        return check

    def _drop(self, repo: Repository, ref: str, commit: str) -> None:
        """End the job of a commit that a queue showed, if no other branch needs it."""
        if not ref.startswith(QUEUES):
            return
        for check in self._known(repo, commit):
            job = check.job
            if check.status == "completed" or job is None:
                continue
            if not f"{ids.HEADS}{job.ref}".startswith(QUEUES):
                continue
            if self._is_shown(repo, commit):
                return
            if check.status == "queued":
                self._finish(repo, check, "cancelled", GONE)
            else:
                programs.end_tree(job.pid, job.born)

    def _known(self, repo: Repository, commit: str) -> list[CheckRun]:
        checks = self._store.check_runs.of((repo.id, commit))
        return [one for one in checks if one.job is not None]

    def _spawn(self, repo: Repository, check: CheckRun) -> None:
        self._context.spawn(self._job(repo, check), f"ci {check.id}")

    async def _job(self, repo: Repository, check: CheckRun) -> None:
        self._allow(self._store.repositories.get(repo.id) or repo)
        async with self._turns[repo.id]:
            now = self._store.check_runs.get(check.id)
            if now is None or now.status == "completed":
                return  # dropped while it waited
            repo = self._store.repositories.get(repo.id) or repo
            if self._overtaken(repo, check):
                self._finish(repo, check, "cancelled", GONE)
                return
            folder = self._context.forge.folder / "ci" / str(check.id)
            kept = self._context.forge.folder / "ci-kept" / str(repo.id)
            await asyncio.to_thread(take_kept, kept, folder)
            try:
                check = self._store.check_runs.change(
                    check, status="in_progress", started_at=self._context.forge.now()
                )
                conclusion, output = await self._run(repo, check, folder)
            finally:
                most = self._slots[repo.id]
                await asyncio.to_thread(keep_tree, kept, folder, most)
        if conclusion == "success":
            ended = self._context.forge.now()
            self._green[repo.id] = replace(check, completed_at=ended)
            ground = self._grounds.pop(repo.id, None)
            if ground is not None and (awaited := self._awaited.get(ground.check)):
                awaited.set()
        elif conclusion == "failure":
            conclusion, output = await self._beside_ground(repo, check, output)
        self._finish(repo, check, conclusion, output)

    async def _beside_ground(
        self, repo: Repository, check: CheckRun, output: Output
    ) -> tuple[Conclusion, Output]:
        """Return what a red verdict means where CI may be red without the change, too.

        The first red starts the job that finds out, and waits for nothing. Where that
        is red, too, the next red says so. Further ones that fail alike ask a person:
        an agent would be paid in vain. A success forgets all of it: since then
        something else has changed. What is red while another is green on the same
        commit of the branch is red by itself.
        """
        bare, branch = self._context.forge.bare(repo), repo.default_branch
        tip = bare.ref(ids.HEADS + branch)
        commit = bare.fork_point(tip, check.head_sha) if tip else None
        if commit is None or commit == check.head_sha:
            return "failure", output
        green, began = self._green.get(repo.id), check.started_at or ""
        is_beside = green is not None and (green.completed_at or "") >= began
        if green and is_beside and bare.fork_point(commit, green.head_sha) == commit:
            return "failure", output
        ground = self._grounds.get(repo.id)
        if ground is None or ground.commit != commit:
            owner = self._context.renderer.owner(repo)
            queued = self._queue(repo, owner, branch, commit)
            self._grounds[repo.id] = Ground(commit, queued.id)
            self._awaited[queued.id] = asyncio.Event()
            return "failure", output
        if awaited := self._awaited.get(ground.check):
            await awaited.wait()
        found = self._store.check_runs.get(ground.check)
        if found is None or found.conclusion != "failure":
            return "failure", output
        text, there = output.text or "", found.output.text or ""
        where = f"{branch} at {commit[:10]}"
        said = headline(there) or found.output.summary
        ground.alike += what_fails(text) == what_fails(there)
        if ground.alike > 1 and what_fails(text) == what_fails(there):
            why = f"{branch} itself fails in the same way at {commit[:10]}: {said}"
            return "action_required", Output(title=NAME, summary=why)
        note = f"CI also failed without this change, on {where}: {said}"
        return "failure", replace(output, text=f"{text}\n{note}\n")

    def _overtaken(self, repo: Repository, check: CheckRun) -> bool:
        """Say whether the candidate was replaced or dropped since its push."""
        ref = f"{ids.HEADS}{check.job.ref}" if check.job is not None else ""
        return ref.startswith(QUEUES) and not self._is_shown(repo, check.head_sha)

    def _is_shown(self, repo: Repository, commit: str) -> bool:
        """Say whether a branch that is judged stands at a commit."""
        refs = self._context.forge.bare(repo).refs(ids.HEADS)
        return any(
            tip == commit and ref.startswith(QUEUES) for ref, tip in refs.items()
        )

    async def _run(
        self, repo: Repository, check: CheckRun, folder: Path
    ) -> tuple[Conclusion, Output]:
        settings = repo.ci
        bare = self._context.forge.bare(repo)
        try:
            own = Path(settings.checkout) if settings.checkout else None
            lacking = await asyncio.to_thread(
                checkout, bare, check.head_sha, folder, own
            )
        except (GitFailed, Unavailable) as error:
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
        told = unreached(box.refused, "[ci] egress") if status != 0 else ""
        told = f"\n{FAKED}{told}" if told else ""
        if status in CANNOT_RUN and await asyncio.to_thread(
            _changes_program, bare, check.head_sha, settings
        ):
            said = f"`{settings.command}` exited with status {status}."
            return "failure", Output(title=NAME, summary=said, text=text + told)
        return verdict(status, settings, text + told)

    async def _command(
        self, repo: Repository, check: CheckRun, where: tuple[CiBox, Path, IO[bytes]]
    ) -> int | None:
        """Run the command to its end and return its status; None: it took too long."""
        box, folder, log = where
        job = check.job
        assert job is not None  # noqa: S101  only jobs get here
        told = {"GITHUB_SHA": check.head_sha, "GITHUB_REF_NAME": job.ref}
        pid = await self._warm.start(box.argv, folder, box.env | told, log, box.fds)
        since = programs.born(pid) or 0.0
        job = replace(job, pid=pid, born=since)
        self._store.check_runs.change(check, job=job)
        loop, proxy = asyncio.get_running_loop(), box.proxy
        if proxy:
            loop.add_reader(proxy, proxy.take)
        is_late = False
        try:
            if self._overtaken(repo, check):  # while the process was started
                programs.end_tree(pid, since)
            async with asyncio.timeout(repo.ci.timeout_s):
                await programs.gone(pid, since)
        except TimeoutError:
            is_late = True
        finally:
            if proxy:
                loop.remove_reader(proxy)
            programs.end_tree(pid, since)
            await programs.gone(pid, since)
            status = programs.status_of(pid)
        return None if is_late else status

    def _finish(
        self, repo: Repository, check: CheckRun, conclusion: Conclusion, output: Output
    ) -> None:
        job = replace(check.job, pid=None, born=None) if check.job else None
        with self._store.change():
            check = self._store.check_runs.change(
                check,
                status="completed",
                conclusion=conclusion,
                completed_at=self._context.forge.now(),
                output=output,
                job=job,
            )
            owner = self._context.renderer.owner(repo)
            self._context.events.tell(repo, owner, "completed", check)
        if awaited := self._awaited.pop(check.id, None):
            awaited.set()


def _changes_program(bare: Bare, commit: str, settings: Ci) -> bool:
    """Say whether a commit changes the file by whose path the command begins."""
    word = (settings.command or "").partition(" ")[0]
    asked = ["diff", "--quiet", "HEAD", commit, "--", os.path.normpath(word)]
    return "/" in word and git.run(asked, cwd=bare.path, check=False).status == 1


NAME: Final = "ci"
GONE: Final = Output(title=NAME, summary="The branch no longer exists.")
TAIL_BYTES: Final = 65_535
FAKED: Final = (
    "brat: a test that fakes HTTP requests may fail because HTTP_PROXY is set here; "
    'unset it for that test, or set `[ci] egress = ["*"]`, with which brat sets none.'
)
CANNOT_RUN: Final = {126: "it cannot be executed", 127: "a program was not found"}
"""What a shell's exit status says of the command itself, not of what it judged.
https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
"""


_SIGNALS: Final = {each.value: each.name for each in signal.Signals}
_CRASHES: Final = {
    *(signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE),
    *(signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM),
}
"""What a shell's exit status above 128 says; git's own 129 is no signal."""


def tail(log: IO[bytes]) -> str:
    size = log.seek(0, 2)
    log.seek(max(size - TAIL_BYTES, 0))
    return log.read().decode(errors="replace")


def what_fails(text: str) -> frozenset[str]:
    """Return what stands for a failure: its tests, else its line without numbers."""
    return frozenset(failing_tests(text) or {re.sub(r"\d+", "0", headline(text))})


def verdict(status: int | None, settings: Ci, text: str) -> tuple[Conclusion, Output]:
    if status == 0:
        said = f"`{settings.command}` passed."
        return "success", Output(title=NAME, summary=said, text=text)
    if status is None:
        said = f"`{settings.command}` took longer than {settings.timeout_s:g} s."
        return "timed_out", Output(title=NAME, summary=said, text=text)
    if why := CANNOT_RUN.get(status):
        last = text.strip().rpartition("\n")[2]
        ended = f"`{settings.command}` exited with status {status}"
        said = f"{ended} ({why}): {last or 'no output'}"
        mend = "install what is missing, or set another [ci] command"
        return "action_required", Output(title=NAME, summary=f"{said}; {mend}.")
    how = f"exited with status {status}"
    if status < 0 or status - 128 in _CRASHES:
        number = abs(status) % 128
        how = f"was killed by {_SIGNALS.get(number, f'signal {number}')}"
        text = f"{text.rstrip()}\nfatal: it {how}\n"  # its last words do not tell
    said = f"`{settings.command}` {how}."
    return "failure", Output(title=NAME, summary=said, text=text)


QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")


def cores(quota: Path = QUOTA) -> int:
    """Return how many cores this process may use; at least 1.

    Counts the cores it may run on, and in a container the quota of processor time: the
    file holds microseconds in each period, and the period, or `max` for no quota.
    https://docs.kernel.org/admin-guide/cgroup-v2.html (cpu.max)
    """
    seen = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        given, period = quota.read_text(encoding="ascii").split()
        seen = min(seen, int(given) // int(period))
    return max(1, seen)
