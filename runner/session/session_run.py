"""One job: the session that the environment names, from fetch to result, below a guard.

Check out, set up, run the engine, keep its work. Every step writes to the result folder
as it happens, so a killed session leaves its results so far.

The agent gets only variables that `project_commands.py` or the engine's row names. A
running engine gets its prompt, and then people's messages. A message counts as heard
when all of it is in the engine's standard input. Once the engine has ended its work, it
gets only messages that came before that.

The exit status is 0 if the result is success or noop, 1 if it is anything else, 2 for
bad inputs, 75 if the forge does not answer, 3 if the fault is ours.
"""

import io
import math
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import copied, session_events as facts
from convoy.gate import printable
from convoy.kinds import KINDS
from convoy.kinds.prompt import message, prompt
from convoy.model.records import EngineSpec
from convoy.model.session_result import bounded_notes
from convoy.planner import ANSWER_CHARS, FILE, REPLY
from convoy.text import cut
from convoy.text.redaction import Redaction
from grite import outbound, trusted_programs
from grite.errors import BratError, Unavailable, is_disk_full
from grite.git import pair_of
from runner import engines
from runner.box.agent_box import BoxReport
from runner.box.processes import guarded, harden
from runner.box.supervisor import Cancelled, Ending, Order, Stop
from runner.box.surroundings import fill_home, left_in, own_sources, read_hostile
from runner.engines import engine_events as events
from runner.engines.engine_events import Said
from runner.engines.output_reader import OutputReader, Report
from runner.engines.row import Call
from runner.inputs import job_inputs
from runner.inputs.job_inputs import BadInput, Inbox, Inputs, Message
from runner.proxy.proxy_protocol import Refused, setup_hosts
from runner.session import result_folder
from runner.session.job_annotations import annotate, live_view, mask, note
from runner.session.project_commands import Setting, acceptance_fault, set_up
from runner.session.proxy_client import ProxyClient, session_order
from runner.session.session_verdict import Seen, conclude
from runner.workspace import attempt_commits
from runner.workspace.attempt_commits import AttemptCommits, Work
from runner.workspace.handoff import NobodySigned, handed_off
from runner.workspace.work_saver import WorkSaver
from runner.workspace.workspace import (
    WHO_COMMITS,
    Workspace,
    fresh,
    missing_content,
    prepare_workspace,
)

if TYPE_CHECKING:
    from runner.session.feed_client import LiveFeed


def live_feed(inputs: Inputs) -> AbstractContextManager["LiveFeed | None"]:
    """Connect to the feed while the block lasts, if the job has a feed it may use."""
    if inputs.feed is None:
        return nullcontext()
    # It loads HTTP, which takes time, so it is imported only here.
    from runner.session.feed_client import LiveFeed, why_exposed

    feed = inputs.feed
    if feed.asks and (why := why_exposed(feed.token, trusted_programs.folders())):
        note(inputs, f"The live feed is off: {why}.")
        return nullcontext()
    return LiveFeed(feed)


SALVAGE_S = 120.0
HASTY_SALVAGE_S = 4.0
"""The same for a cancelled job: 7.5 s less the time for ending the agent."""
LISTED_FILES = 1000
WHY_CHARS = 2_000
"""The bot takes no longer reason; the paths in one may be longer."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Session(Setting, kw_only=True):
    """From its start to its result."""

    call: Call
    """How its engine is started."""
    proxy: ProxyClient
    """It holds the model's key, if the engine can use a proxy."""
    keeps_patch: bool = False
    litter: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """The parts that the checkout leaves out, a sentence or two each."""
    save: Callable[[], float] = lambda: math.inf
    """Saves half-done work from time to time; this one keeps it only at the end."""
    inbox: Inbox | None = None
    box: BoxReport = BoxReport()
    """Which walls stood around the engine, once it has ended."""

    def result(self) -> result_folder.Result:
        started, kind, why = self.started, KINDS[self.started.kind], ""
        unaccepted: str | None = None
        try:
            with self.stop.leaving_at_once():
                self._bring_program()
                places = self.checkout, self.scratch
                workspace = prepare_workspace(self.inputs, started, *places)
            self.folder.claim(copied(facts.SessionReady, started))
            for name in ("home", "tmp"):
                (self.scratch / name).mkdir()
            fill_home(self.scratch / "home", {".gitconfig": WHO_COMMITS})
            self.absent = missing_content(workspace)
            if kind.is_set_up:
                hosts = setup_hosts(started.setup_hosts, self.proxy.hosts)
                with live_view(self.inputs) as self.show:
                    self.litter, why = set_up(workspace, self, hosts)
        except Cancelled:
            return self._close(Seen(started, Ending(cancelled=True)))
        if why:
            return self._close(Seen(started, unprepared=why))
        self.litter += self.call.row.litter
        ending, report = self._run_engine(workspace)
        answer = ""
        if kind.answer:
            file = workspace.folder / (FILE if kind.makes_plan else REPLY)
            written = read_hostile(file, 4 * ANSWER_CHARS).decode(errors="replace")
            answer = self.redaction((written.strip() or report.text)[:ANSWER_CHARS])
        is_work = not kind.answer or kind.keeps_tries
        work = self._salvaged(workspace, ending) if is_work else Work()
        whole = ending.exit_code == 0 and not ending.cut_off and not self.stop.wanted
        is_claimed = whole and report.status in ("done", "noop")
        if started.acceptance and is_claimed and not kind.answer:
            with live_view(self.inputs) as self.show:
                closed = self.proxy.hosts is not None
                unaccepted = acceptance_fault(self, closed=closed)
        return self._close(Seen(started, ending, report, work, answer, unaccepted))

    def _bring_program(self) -> None:
        """Install the engine where a job has none; else its start will say so."""
        if not self.inputs.on_actions:  # a person's machine has what that person has
            return
        from runner.engines import pinned_program

        engine, is_boxed = self.started.engine, self.started.box == "on"
        try:
            self.inputs = pinned_program.at_hand(self.inputs, engine, is_boxed=is_boxed)
        except (BratError, ValueError, OSError) as error:
            note(self.inputs, str(error))

    def _run_engine(self, workspace: Workspace) -> tuple[Ending, Report]:
        with ExitStack() as held:
            feed = held.enter_context(live_feed(self.inputs))
            also = (feed.output.show,) if feed else ()
            self.show = held.enter_context(live_view(self.inputs, *also))

            def keep(bundle: bytes) -> None:
                self.folder.keep_so_far(bundle)
                if feed:
                    feed.work.send(bundle)

            is_answer = KINDS[self.started.kind].answer
            self.inbox = feed.inbox if feed else None
            if self.started.limits.checkpoint_s and not is_answer:
                args = self.room, self.started, workspace, self.litter, keep
                self.save = held.enter_context(closing(WorkSaver(*args))).go_on
            return run_engine(self)

    def engine_environment(self) -> dict[str, str]:
        """Return all the variables that the engine gets."""
        started, call = self.started, self.call
        return {
            **self.environment(),
            "BRAT_PROMPT": str(call.prompt),
            "BRAT_CONVOY": started.convoy,
            "BRAT_TASK": str(started.task),
            "BRAT_ATTEMPT": str(started.attempt),
            "BRAT_TITLE": started.title,
            "BRAT_MODEL": started.engine.model or "",
            **self.proxy.environment(),
            **call.reached_by(),
            **call.row.sets(call),
        }

    def _salvaged(self, workspace: Workspace, ending: Ending) -> Work:
        budget_s = HASTY_SALVAGE_S if self.stop.wanted else SALVAGE_S
        is_half = ending.exit_code != 0 or ending.cut_off
        own = workspace, budget_s, self.litter
        commits = AttemptCommits(*own, keeps_patch=self.keeps_patch)
        work = commits.keep(self.started.title, half_done=is_half)
        asked = self.started.title, self.started.instructions
        known = self.redaction.but(asked)
        gate = self.started.gate
        work = attempt_commits.without_leaks(work, workspace, gate, known)
        work = commits.with_sides(work, gate, known)
        if work.bundle:
            self.folder.keep(work.bundle, result_folder.BUNDLE)
        if work.commit and self.keeps_patch:
            self.folder.keep(
                workspace.store / attempt_commits.PATCH, result_folder.PATCH
            )
        return work

    def _close(self, seen: Seen) -> result_folder.Result:
        """Judge the session, claim how it ended, and complete the result folder."""
        started, report, work = seen.started, seen.report, seen.work
        found = conclude(seen)
        # With paths as from the workspace, so that it is alike in each attempt.
        said = found.why.replace(f"{self.checkout}/", "")
        notes = (*work.left_out, *report.left.notes)
        files = (printable(change.path) for change in work.changes[:LISTED_FILES])
        result = copied(
            result_folder.Result,
            *(started, seen.ending, report, found, self.box),
            session=self.inputs.session,
            retry_after_s=report.retry_after_s(_now_ms()),
            why=cut(self.redaction(said), WHY_CHARS),
            left=bounded_notes(replace(report.left, notes=notes)),
            report=seen.answer,
            commit=work.commit or (started.base if seen.goes_on else None),
            files=tuple(files),
            accepted=None if seen.unaccepted is None else not seen.unaccepted,
            refusals=seen.refusals,
            engine=copied(
                result_folder.EngineUsed, started.engine, session=report.session[:100]
            ),
            network=self.proxy.leak,
            box=self.box.why,
            usage=self.folder.used,
        )
        claim = self.folder.claim
        if result.files:
            claim(copied(facts.FilesModified, result, paths=result.files))
        claim(copied(facts.SessionHandoff, result, commit=work.commit))
        claim(copied(facts.SessionExited, result, verdict=result.conclusion))
        self.folder.close(result)
        return result


class Steering(Struct):
    _prompt: bytes | None
    """What it begins with, until it is said."""
    _inbox: Inbox
    _says: Callable[[Message], bytes]
    """Words a message for the engine's input."""
    _given: int = 0
    _is_done: bool = False
    _tokens: dict[str, events.Usage] = {}
    _usd: float = 0.0

    def next(self) -> bytes | None:
        """Return the next bytes for the engine; see `supervisor.Source`."""
        if self._prompt is not None:
            prompt, self._prompt = self._prompt, None
            return prompt
        if self._given:
            self._inbox.heard(self._given)
            self._given = 0
        messages = self._inbox.take()
        if messages:
            self._given = messages[-1].number
            self._is_done = False
            return b"".join(map(self._says, messages))
        return None if self._is_done else b""

    def note(self, said: Said) -> Said:
        """Take an event of the engine, which may say that it is done, and return it.

        An engine that is talked to counts what it uses from its start: a count is
        reduced by what was counted before.
        """
        if isinstance(said, events.Result):
            self._is_done = True
        if isinstance(said, events.Usage):
            before = self._tokens.get(said.model, events.Usage())
            self._tokens[said.model] = said
            return said.with_each(before, lambda now, then: max(0, now - then))
        if isinstance(said, events.Cost):
            usd, self._usd = said.usd - self._usd, said.usd
            return events.Cost(usd=max(0.0, usd))
        return said


def run_engine(job: Session) -> tuple[Ending, Report]:
    """Run the task's engine until every process it started is gone."""
    call, row, started = job.call, job.call.row, job.started
    if call.spec.tools and not row.tools:
        why = f"The engine {row.name} cannot limit its tools."
        return Ending(fault=why), Report("missing_tool")
    try:
        hosts = job.proxy.hosts
        told = prompt(started, hosts, job.absent)
        call.prompt.write_text(told, encoding="utf-8")
        row.argv(call)
    except ValueError as error:
        return Ending(fault=str(error)), Report("missing_tool")
    if fault := call.missing_key():
        trouble = events.Error(kind="credentials", message=fault)
        return Ending(fault=fault), Report(None, trouble=trouble)
    steered = job.inbox is not None and row.says is not None
    job.call = replace(job.proxy.pointed(call), steered=steered)
    fill_home(call.home, row.files(job.call))
    return _Run(job).go()


class _Run:
    def __init__(self, job: Session) -> None:
        self._job, row = job, job.call.row
        self._reader = OutputReader(row, self._note)
        limit = job.started.limits.output_bytes
        self._transcript = job.transcript(limit, self._reader.feed)
        self._says_tokens = False
        self._steering: Steering | None = None
        inbox, says, started = job.inbox, row.says, job.started
        if inbox and says:

            def worded(said: Message) -> bytes:
                return says(message(started, said.by, said.text))

            told = job.call.prompt.read_text(encoding="utf-8")
            self._steering = Steering(says(told), inbox, worded)
        job.proxy.note = self._note_refused

    def go(self) -> tuple[Ending, Report]:
        job, row, started = self._job, self._job.call.row, self._job.started
        spec, argv = started.engine, row.argv(job.call)
        running = copied(facts.SessionRunning, started, engine=spec.type, argv0=argv[0])
        job.folder.claim(running)
        for each in job.absent:
            self._transcript.note(events.Text(text=each, by="program"))
        if self._steering and job.inbox:
            job.inbox.listen(job.stop.nudge)
        is_read = row.prompt == "stdin" and not self._steering
        env = job.engine_environment()
        env |= own_sources(env, job.checkout)
        order = Order(
            argv,
            job.checkout,
            env,
            spec.timeout_s,
            stdin=job.call.prompt if is_read else None,
            silence_s=math.inf if row.is_quiet else spec.silence_s,
            watcher=job.proxy,
            source=self._steering.next if self._steering else None,
            side_task=job.save,
        )
        with closing(self._transcript):
            ending, walls = job.run(order, self._transcript.write, job.proxy.way())
            # A box that was killed before it stood says nothing of its walls.
            if ending.fault or walls.is_off or not walls.why:
                job.box = walls
                if walls.why:
                    self._transcript.note(events.Unboxed(why=walls.why))
            self._transcript.flush()
            left = left_in(job.call.home, row.leaves) if row.leaves else ""
            self._reader.close(job.redaction(left))
            job.proxy.close()
            if job.proxy.counts:
                self._transcript.note(job.proxy.sum())
            # It counts, too; that is used if the engine reports no usage.
            for used in () if self._says_tokens else job.proxy.used():
                self._note(used)
        if ending.fault:
            return ending, Report("missing_tool")
        by_us = ending.timed_out or ending.silent or ending.called_off
        report = self._reader.report(None if by_us else ending.exit_code)
        trouble = job.proxy.trouble
        if ending.called_off and trouble is None:
            why = "the proxy that holds its key has stopped"
            trouble = events.Error(kind="failed", message=why)
        return ending, replace(report, trouble=trouble or report.trouble)

    def _note_refused(self, said: Said) -> None:
        if isinstance(said, Refused):
            said = Refused(what=self._job.redaction(said.what))
        self._transcript.note(said)

    def _note(self, said: Said) -> None:
        if self._steering:
            said = self._steering.note(said)
        if not isinstance(said, events.Text):  # the transcript has it as it was written
            self._transcript.note(said)
        self._says_tokens = self._says_tokens or isinstance(said, events.Usage)
        if isinstance(said, events.Usage | events.Cost):
            self._job.folder.note(said)


def secrets_of(inputs: Inputs, spec: EngineSpec) -> tuple[str, ...]:
    names = (*engines.key_names(), *((spec.secret,) if spec.secret else ()))
    keys = [inputs.offered.get(name, "") for name in names]
    keys += [inputs.feed.token] if inputs.feed else []
    keys += [inputs.token, pair_of(inputs.token)] if inputs.token else []
    return tuple(keys)


PROMPTS = "BRAT_TASK_PROMPT", "BRAT_TASK_PROMPT_FILE"
"""The variables by which a job describes its task itself."""
DONE, NOT_DONE, BAD_INPUT, OUR_FAULT, TRY_LATER = 0, 1, 2, 3, 75
NO_ROOM = "The disk of the session's machine is full: free up space on it."


def run_job(take_over: Callable[[], None] | None = None) -> int:
    """Run the session and return the exit status.

    With `take_over`, this process is only the guard of a child, which takes over what
    it is to run: so it never holds what the session is told.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # agents write anything
    if take_over is None:
        return _told(partial(_run_guarded, guarded))

    def work() -> int:
        take_over()
        return _told(partial(_run_guarded, lambda attended: attended()))

    return guarded(work)


def _run_guarded(guard: Callable[[Callable[[], int]], int]) -> int:
    """Run the session below a guard, which ends every process it leaves running."""
    env = job_inputs.environment()
    is_alone = any(env.get(name, "").strip() for name in PROMPTS)
    inputs, started = (
        job_inputs.prompted(env) if is_alone else (job_inputs.read_inputs(env), None)
    )
    harden(inputs.path, outbound.named_in(inputs.offered).variables)
    mask(inputs)
    with fresh(inputs.temp) as scratch, fresh(inputs.workspace) as checkout:

        def attended() -> int:
            """Run the session, unless the job is cancelled before its task is known."""
            with Stop() as stop:
                with stop.leaving_at_once():
                    task = started or handed_off(inputs, scratch, _now_ms())
                hidden = Redaction(secrets_of(inputs, task.engine))
                folder = result_folder.Folder(inputs.result, task, _now_ms)
                folder.claim(copied(facts.SessionSpawned, task))
                own = inputs, task, scratch, checkout, folder, hidden, stop
                row = engines.startable(task.engine.type)
                file, home = scratch / "prompt.md", scratch / "home"
                call = Call(row, task.engine, file, home, endpoint=inputs.endpoint)
                call = call.with_key(inputs.offered)
                asked, is_boxed = session_order(call, task), task.box == "on"
                client = ProxyClient(asked, inputs.offered, is_boxed=is_boxed)
                with closing(client) as proxy:
                    session = Session(
                        *own, call=call, proxy=proxy, keeps_patch=is_alone
                    )
                    result = session.result()
            annotate(inputs, result, is_alone=is_alone)
            return DONE if result.conclusion in {"success", "noop"} else NOT_DONE

        def told() -> int:
            """Run the session; leave the reason if it cannot be run, or judged."""
            path, name = inputs.result, inputs.session
            try:
                return attended()
            except NobodySigned as error:
                why = f"The task's job did not receive a valid hand-off. {error}"
                result_folder.leave_turned_away(path, name, why)
                raise
            except (BratError, OSError) as error:
                if not is_disk_full(error):
                    raise
                for folder in (scratch, checkout):  # the reason needs room, too
                    shutil.rmtree(folder, ignore_errors=True)
                result_folder.leave_turned_away(path, name, NO_ROOM)
                return _say(NO_ROOM, TRY_LATER)

        return guard(lambda: _told(told))


def _told(work: Callable[[], int]) -> int:
    """Run the session and return its status; print a sentence if it cannot run."""
    try:
        return work()
    except BadInput as error:
        return _say(str(error), BAD_INPUT)
    except Unavailable as error:
        return _say(f"The forge does not answer: {error}.", TRY_LATER)
    except Cancelled:
        return _say("The job was cancelled before it started.", NOT_DONE)
    except Exception as error:  # noqa: BLE001  the one place: it is our fault, and said
        sys.excepthook(type(error), error, error.__traceback__)
        return OUR_FAULT


def _say(sentence: str, status: int) -> int:
    sentence = " ".join(sentence.split()).rstrip(".")
    print(f"brat: {sentence}.", file=sys.stderr)  # noqa: T201  for people
    return status
