"""Runs an engine in its workspace, with its environment, its prompt and its key.

The agent gets only variables that this module or the engine's row names.

A running engine gets its prompt, and then people's messages. A message counts as heard
when all of it is in the engine's standard input. Once the engine has ended its work, it
gets only messages that came before that.
"""

import math
from collections.abc import Callable
from contextlib import closing

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import copied
from convoy.events.session_events import SessionRunning
from convoy.kinds.prompt import message, prompt
from convoy.model.records import EngineSpec
from grite.git import pair_of
from runner import engines
from runner.box import surroundings
from runner.box.agent_box import BoxReport
from runner.box.supervisor import Ending, Order
from runner.box.surroundings import fill_home, left_in
from runner.engines import engine_events as events
from runner.engines.engine_events import Said
from runner.engines.output_reader import OutputReader, Report
from runner.engines.row import Call
from runner.inputs.job_inputs import Inbox, Inputs, Message
from runner.proxy.proxy_protocol import Refused
from runner.session.project_commands import Setting
from runner.session.proxy_client import ProxyClient


class Steering(Struct):
    _prompt: bytes | None
    """What it begins with, until it is said."""
    _inbox: Inbox
    _says: Callable[[Message], bytes]
    """Words a message for the engine's input."""
    _given: int = 0
    _is_done: bool = False

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

    def note(self, said: Said) -> None:
        """Take an event of the engine, which may say that it is done."""
        if isinstance(said, events.Result):
            self._is_done = True


class Since(Struct):
    """What was used since the last count, for an engine that counts from its start."""

    _tokens: dict[str, events.Usage] = {}
    _usd: float = 0.0

    def __call__(self, said: Said) -> Said:
        """Return the event; a count is reduced by what was counted before."""
        if isinstance(said, events.Usage):
            before = self._tokens.get(said.model, events.Usage())
            self._tokens[said.model] = said
            return said.with_each(before, lambda now, then: max(0, now - then))
        if isinstance(said, events.Cost):
            usd, self._usd = said.usd - self._usd, said.usd
            return events.Cost(usd=max(0.0, usd))
        return said


class Job(Setting):
    """The setting of a session with an engine."""

    absent: tuple[str, ...] = ()
    """The parts that the checkout leaves out, a sentence or two each."""
    proxy: ProxyClient | None = None
    """The proxy that holds the model's key; None: the engine cannot use one."""
    save: Callable[[], float] = lambda: math.inf
    """Saves half-done work from time to time; this one keeps it only at the end."""
    inbox: Inbox | None = None
    box: BoxReport = BoxReport()
    """Which walls stood around the engine, once it has ended."""


def run_engine(job: Job) -> tuple[Ending, Report]:
    """Run the task's engine until every process it started is gone."""
    inputs, started, spec = job.inputs, job.started, job.started.engine
    try:
        row = engines.found(spec.type)
        if spec.tools and not row.tools:
            why = f"The engine {row.name} cannot limit its tools."
            return Ending(fault=why), Report("missing_tool")
        hosts = job.proxy.hosts if job.proxy else None
        told = row.tells(started) if row.tells else prompt(started, hosts, job.absent)
        file = job.scratch / "prompt.md"
        file.write_text(told, encoding="utf-8")
        steered = job.inbox is not None and row.says is not None
        home, endpoint = job.scratch / "home", inputs.endpoint
        call = Call(row, spec, file, home, steered=steered, endpoint=endpoint)
        call = call.with_key(inputs.offered)
        argv = row.argv(call)
    except ValueError as error:
        return Ending(fault=str(error)), Report("missing_tool")
    if fault := call.missing_key():
        trouble = events.Error(kind="credentials", message=fault)
        return Ending(fault=fault), Report(None, trouble=trouble)
    if job.proxy:
        call = job.proxy.pointed(call)
        argv = row.argv(call)
    fill_home(call.home, row.files(call))
    return _Run(job, call).go(argv)


class _Run:
    def __init__(self, job: Job, call: Call) -> None:
        self._job, self._call, row = job, call, call.row
        self._reader = OutputReader(row, self._note)
        limit = job.started.limits.output_bytes
        self._transcript = job.transcript(limit, self._reader.feed)
        self._says_tokens = False
        self._since = Since()
        self._steering: Steering | None = None
        inbox, says, started = job.inbox, row.says, job.started
        if inbox and says:

            def worded(said: Message) -> bytes:
                return says(message(started, said.by, said.text))

            told = call.prompt.read_text(encoding="utf-8")
            self._steering = Steering(says(told), inbox, worded)
        if job.proxy:
            job.proxy.note = self._note_refused

    def go(self, argv: tuple[str, ...]) -> tuple[Ending, Report]:
        job, row, started = self._job, self._call.row, self._job.started
        spec = started.engine
        running = copied(SessionRunning, started, engine=spec.type, argv0=argv[0])
        job.folder.claim(running)
        for each in job.absent:
            self._transcript.note(events.Text(text=each, by="program"))
        if self._steering and job.inbox:
            job.inbox.listen(job.stop.nudge)
        is_read = row.prompt == "stdin" and not self._steering
        env = environment_of(job, self._call)
        env |= surroundings.own_sources(env, job.checkout)
        order = Order(
            argv,
            job.checkout,
            env,
            spec.timeout_s,
            stdin=self._call.prompt if is_read else None,
            silence_s=math.inf if row.is_quiet else spec.silence_s,
            watcher=job.proxy,
            source=self._steering.next if self._steering else None,
            side_task=job.save,
        )
        way = job.proxy.way() if job.proxy else None
        with closing(self._transcript):
            ending, walls = job.run(order, self._transcript.write, way)
            # A box that was killed before it stood says nothing of its walls.
            if ending.fault or walls.is_off or not walls.why:
                job.box = walls
                if walls.why:
                    self._transcript.note(events.Unboxed(why=walls.why))
            self._transcript.flush()
            left = left_in(self._call.home, row.leaves) if row.leaves else ""
            self._reader.close(job.redaction(left))
            if proxy := job.proxy:
                proxy.close()
                if proxy.counts:
                    self._transcript.note(proxy.sum())
                # It counts, too; that is used if the engine reports no usage.
                for used in () if self._says_tokens else proxy.used():
                    self._note(used)
        if ending.fault:
            return ending, Report("missing_tool")
        by_us = ending.timed_out or ending.silent or ending.called_off
        report = self._reader.report(None if by_us else ending.exit_code)
        trouble = job.proxy.trouble if job.proxy else None
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
            self._steering.note(said)
            said = self._since(said)
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


def environment_of(job: Job, call: Call) -> dict[str, str]:
    started = job.started
    return {
        **job.environment(),
        "BRAT_PROMPT": str(call.prompt),
        "BRAT_CONVOY": started.convoy,
        "BRAT_TASK": str(started.task),
        "BRAT_ATTEMPT": str(started.attempt),
        "BRAT_TITLE": started.title,
        "BRAT_MODEL": started.engine.model or "",
        **(job.proxy.environment() if job.proxy else {}),
        **call.reached_by(),
        **call.row.sets(call),
    }
