"""The story of one session: fetch, check out, run, salvage, say.

Every step leaves its trace in the result folder as it happens, so a kill at any moment
leaves what there was; only result.json, the last, says that the story is whole.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypedDict

from convoy import ids
from convoy.events import (
    FilesModified,
    SessionExited,
    SessionHandoff,
    SessionReady,
    SessionRunning,
    SessionSpawned,
    TaskStarted,
)
from convoy.gate import passing, printable, refusals
from convoy.kinds import ANSWERS, READING
from convoy.text.redaction import Redaction
from runner import acceptance, agent, engines, gateway, home, plan
from runner.absent import absent
from runner.annotate import LiveView, note
from runner.checkpointing import Checkpoints
from runner.engines.events import RateLimit
from runner.engines.hearing import Report
from runner.folders import Folders
from runner.gateway import Gateway
from runner.inputs import Inputs
from runner.result import TRANSCRIPT, EngineUsed, Folder, Result
from runner.salvage import Message, Salvage, Work, spared
from runner.setup import Prepared, Setting, set_up
from runner.steering import Inbox
from runner.stop import Cancelled, Stop
from runner.supervise import Ending
from runner.task import handed_off
from runner.verdict import Seen, answered, conclude
from runner.workspace import Workspace, prepare

SALVAGE_S = 120.0
HASTY_SALVAGE_S = 4.0
"""When the job is being cancelled: 7.5 s less the grace."""
LISTED_FILES = 1000


def attend(inputs: Inputs, folders: Folders, now_ms: Callable[[], int]) -> Result:
    """Run one session in two empty folders and leave its result folder.

    Raises:
        BadInput: the log hands off no such session, or its base cannot be fetched.
        Unavailable: the forge does not answer.
        Cancelled: before it was known what to do.
    """
    with Stop() as stop:
        with stop.leaving_at_once():
            started = handed_off(inputs, folders.scratch)
        session = _Session(inputs, started, stop, now_ms)
        return session.run(folders.scratch, folders.checkout)


class _Who(TypedDict):
    convoy: str
    task: int
    attempt: int


class _Fed(NamedTuple):
    """What a session tells its feed, and hears there."""

    show: Callable[[str], None]
    keep: Callable[[bytes], None]
    inbox: Inbox | None


def _drop(_what: object) -> None:
    """Tell nobody."""


class _Session:
    def __init__(
        self,
        inputs: Inputs,
        started: TaskStarted,
        stop: Stop,
        now_ms: Callable[[], int],
    ) -> None:
        self._inputs = inputs
        self._started = started
        self._stop = stop
        self._now_ms = now_ms
        self._who: _Who = {
            "convoy": started.convoy,
            "task": started.task,
            "attempt": started.attempt,
        }
        self._folder = Folder(inputs.result, started, now_ms)
        secrets = agent.secrets_of(inputs, started.engine)
        self._redaction = Redaction(secrets)
        self._litter: tuple[str, ...] = ()
        self._absent: tuple[str, ...] = ()
        self._proxy: Gateway | None = None
        self._unboxed = ""
        self._unaccepted: str | None = None
        """Why the work is not accepted; empty: it is; None: nothing was run."""

    def run(self, scratch: Path, folder: Path) -> Result:
        self._folder.claim(SessionSpawned(**self._who))
        with gateway.beside(self._inputs, self._started) as self._proxy:
            return self._run(scratch, folder)

    def _run(self, scratch: Path, folder: Path) -> Result:
        try:
            with self._stop.leaving_at_once():
                workspace = prepare(self._inputs, self._started, folder, scratch)
        except Cancelled:
            return self._close(Ending(cancelled=True), Report(None), Work())
        self._folder.claim(SessionReady(**self._who))
        home.create(scratch)
        self._absent = absent(workspace.folder)
        ready = self._set_up(workspace, scratch)
        if ready.cancelled or ready.why:
            ending = Ending(cancelled=ready.cancelled)
            return self._close(ending, Report(None), Work(), why=ready.why)
        self._litter = ready.litter
        ending, report = self._run_engine(workspace, scratch)
        if self._started.kind in ANSWERS:
            text = plan.answer(self._started, workspace.folder, report.text)
            said = self._redaction(text)
            tried = self._started.kind == "scout"
            work = self._salvaged(workspace, ending) if tried else Work()
            return self._close(ending, report, work, said)
        work = self._salvaged(workspace, ending)
        self._try_out(workspace, scratch, ending, report)
        return self._close(ending, report, work)

    def _try_out(
        self, workspace: Workspace, scratch: Path, ending: Ending, report: Report
    ) -> None:
        """Run the acceptance command, where the agent says that the work is whole."""
        command = self._started.acceptance
        whole = ending.exit_code == 0 and not ending.cut_off and not self._stop.wanted
        if not (command and whole and report.status in ("done", "noop")):
            return
        closed = self._proxy is not None and self._proxy.hosts is not None
        with self._setting(scratch, self._started.limits.acceptance_s) as setting:
            self._unaccepted = acceptance.fault_of(
                command, workspace.folder, setting, self._stop, closed=closed
            )

    def _run_engine(self, workspace: Workspace, scratch: Path) -> tuple[Ending, Report]:
        page = sys.stdout if self._inputs.on_actions else None
        with self._fed() as fed, LiveView(page) as view:

            def show(text: str) -> None:
                view.show(text)
                fed.show(text)

            def keep(bundle: bytes) -> None:
                self._folder.keep_so_far(bundle)
                fed.keep(bundle)

            checkpoints = self._checkpoints(workspace, keep)
            job = agent.Job(
                inputs=self._inputs,
                started=self._started,
                scratch=scratch,
                transcript=self._folder.path / TRANSCRIPT,
                redaction=self._redaction,
                show=show,
                running=self._note_running,
                boxed=self._note_box,
                used=self._folder.note,
                absent=self._absent,
                gateway=self._proxy,
                inbox=fed.inbox,
                checkpoints=checkpoints,
            )
            try:
                return agent.run(job, workspace.folder, self._stop)
            finally:
                if checkpoints:
                    checkpoints.close()

    @contextmanager
    def _fed(self) -> Iterator[_Fed]:
        """Give what sends to the feed, if there is one, and what hears it."""
        if self._inputs.feed is None:
            yield _Fed(_drop, _drop, None)
            return
        from runner.feed.courier import Courier  # it loads HTTP, and that takes time
        from runner.feed.listener import Listener
        from runner.feed.sender import Sender
        from runner.feed.ways import way_of

        way, why = way_of(self._inputs.feed, self._inputs.path)
        if way is None:
            note(self._inputs, f"the live feed is off: {why}", sys.stdout)
            yield _Fed(_drop, _drop, None)
            return
        with (
            closing(Courier(way)) as courier,
            closing(Listener(way)) as inbox,
            Sender(way) as sender,
        ):
            yield _Fed(sender.show, courier.send, inbox)

    def _checkpoints(
        self, workspace: Workspace, keep: Callable[[bytes], None]
    ) -> Checkpoints | None:
        started = self._started
        if started.kind in ANSWERS or not started.limits.checkpoint_s:
            return None
        return Checkpoints(self._inputs, started, workspace, self._litter, keep)

    def _set_up(self, workspace: Workspace, scratch: Path) -> Prepared:
        if self._started.kind in READING:
            return Prepared()
        with self._setting(scratch, self._started.limits.setup_s) as setting:
            return set_up(workspace, setting, self._stop)

    @contextmanager
    def _setting(self, scratch: Path, limit_s: int) -> Iterator[Setting]:
        with LiveView(sys.stdout if self._inputs.on_actions else None) as view:
            yield Setting(
                inputs=self._inputs,
                scratch=scratch,
                limit_s=limit_s,
                transcript=self._folder.path / TRANSCRIPT,
                redaction=self._redaction,
                show=view.show,
            )

    def _note_running(self, argv0: str) -> None:
        engine = self._started.engine.type
        self._folder.claim(SessionRunning(**self._who, engine=engine, argv0=argv0))

    def _note_box(self, why: str) -> None:
        self._unboxed = why

    def _salvaged(self, workspace: Workspace, ending: Ending) -> Work:
        budget_s = HASTY_SALVAGE_S if self._stop.wanted else SALVAGE_S
        branch = ids.task_branch(self._started.convoy, self._started.task)
        cut = ending.exit_code != 0 or ending.cut_off
        message = Message(self._started.title, f"Brat-Task: {branch}", half_done=cut)
        litter = (*engines.litter(self._started.engine.type), *self._litter)
        work = Salvage(workspace, budget_s, litter).keep(message)
        work = spared(work, workspace, self._started.gate, self._redaction)
        if work.bundle:
            self._folder.keep(work.bundle)
        return work

    def _close(
        self,
        ending: Ending,
        report: Report,
        work: Work,
        answer: str = "",
        why: str = "",
    ) -> Result:
        result = self._result(ending, report, work, answer, why)
        if result.files:
            self._folder.claim(FilesModified(**self._who, paths=result.files))
        self._folder.claim(SessionHandoff(**self._who, commit=work.commit))
        exited = SessionExited(
            **self._who,
            exit_code=result.exit_code,
            signal=result.signal,
            verdict=result.conclusion,
            outcome=result.outcome,
            summary=result.summary,
            seconds=result.seconds,
        )
        self._folder.claim(exited)
        self._folder.close(result)
        return result

    def _result(
        self, ending: Ending, report: Report, work: Work, answer: str, why: str
    ) -> Result:
        started = self._started
        refused = (
            *refusals(work.changes, work.patch_bytes, started.gate, started.limits),
            *passing(work.between, started.gate),
            *work.leaks,
        )
        spec = started.engine
        limits = spec.timeout_s, spec.silence_s
        goes_on = started.salvaged > 0
        seen = Seen(
            *(ending, report, work, refused, *limits, goes_on),
            unaccepted=self._unaccepted or "",
            unprepared=why,
        )
        if started.kind in ANSWERS:
            found = answered(seen, answer, ANSWERS[started.kind])
        else:
            found = conclude(seen)
        files = (printable(change.path) for change in work.changes[:LISTED_FILES])
        return Result(
            **self._who,
            session=ids.session_name(**self._who),
            nonce=started.nonce,
            status=report.status,
            conclusion=found.conclusion,
            outcome=found.outcome,
            retry_after_s=self._asked(report),
            why=self._redaction(found.why),
            summary=report.summary,
            left=report.left,
            report=answer,
            base=started.base,
            commit=work.commit or (started.base if goes_on else None),
            exit_code=ending.exit_code,
            signal=ending.signal,
            files=tuple(files),
            accepted=None if self._unaccepted is None else not self._unaccepted,
            refusals=refused,
            seconds=ending.seconds,
            engine=EngineUsed(
                type=spec.type, model=spec.model, session=report.session[:100]
            ),
            network=self._proxy.leak if self._proxy else "",
            box=self._unboxed,
            usage=self._folder.used,
        )

    def _asked(self, report: Report) -> float | None:
        """Return how long the vendor wants to be left alone from now on."""
        match report.limit:
            case RateLimit(wait_s=float() as wait_s):
                return wait_s
            case RateLimit(until=int() as until):
                return max(0.0, until - self._now_ms() / 1000)
            case _:
                return None
