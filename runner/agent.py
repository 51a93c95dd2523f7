"""One run of an engine in its workspace: environment, prompt, output, end.

The environment is built from nothing: what is not named here or in the engine's row
does not reach the agent.
"""

import math
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import EngineSpec, TaskStarted
from convoy.text.redaction import Redaction
from grite.git import pair_of
from runner import engines
from runner.boxing import NO_BOX, boxed
from runner.engines.events import Cost, Error, Refused, Said, Text, Unboxed, Usage
from runner.engines.hearing import Hearing, Report
from runner.engines.row import Call, Row, reached_by
from runner.gateway import Gateway
from runner.home import left_in, plain_environment, prepare
from runner.inputs import Inputs
from runner.keys import key_for, missing_key
from runner.prompt import message, prompt
from runner.steering import Inbox, Message, Since, Steering
from runner.stop import Stop
from runner.supervise import Beside, Ending, Order, Stream, supervise
from runner.transcript import Transcript


class Job(Struct, frozen=True):
    """What is to be run, and where its traces go."""

    inputs: Inputs
    started: TaskStarted
    scratch: Path
    transcript: Path
    redaction: Redaction
    show: Callable[[str], None]
    """Gets the redacted output as it comes."""
    running: Callable[[str], None]
    """Told the program's name just before it starts."""
    boxed: Callable[[str], None]
    """Told at its end why it had no box; empty: it had one."""
    used: Callable[[Usage | Cost], None]
    """Told what the engine says it used, as it says it; else what its proxy counted."""
    absent: tuple[str, ...] = ()
    """What the checkout leaves out, a sentence or two each."""
    gateway: Gateway | None = None
    """The proxy that holds the model's key; None: the engine cannot use one."""
    checkpoints: Beside | None = None
    """What keeps the work while it is done; None: it is kept at its end alone."""
    inbox: Inbox | None = None
    """Where what people say to the session comes in; None: there is no feed."""


def run(job: Job, folder: Path, stop: Stop) -> tuple[Ending, Report]:
    """Run the task's engine in `folder`; all it started is gone when this returns."""
    try:
        row = engines.found(job.started.engine.type)
        _obeys(row, job.started.engine)
        call = _call(job, row)
        argv = row.argv(call)
    except ValueError as error:
        return Ending(fault=str(error)), Report("missing_tool")
    if fault := missing_key(row, call):
        return Ending(fault=fault), Report(None, trouble=_no_key(fault))
    if job.gateway:
        call = job.gateway.pointed(call)
        argv = row.argv(call)
    prepare(call.home, row.files(call))
    return _Run(job, row, call).go(argv, folder, stop)


class _Run:
    def __init__(self, job: Job, row: Row, call: Call) -> None:
        self._job, self._row, self._call = job, row, call
        self._hearing = Hearing(row, self._note)
        limit = job.started.limits.output_bytes
        self._transcript = Transcript(job.transcript, job.redaction, limit, self._take)
        self._says_tokens = False
        self._since = Since()
        self._steering = self._talked_to()
        if job.gateway:
            job.gateway.listen(self._note_refused)

    def go(
        self, argv: tuple[str, ...], folder: Path, stop: Stop
    ) -> tuple[Ending, Report]:
        job, row, spec = self._job, self._row, self._job.started.engine
        job.running(argv[0])
        for each in job.absent:
            self._transcript.note(Text(text=each, by="program"))
        if self._steering and job.inbox:
            job.inbox.listen(stop.nudge)
        is_read = row.prompt == "stdin" and not self._steering
        env = environment_of(job, row, self._call)
        order = Order(
            argv,
            folder,
            env,
            spec.timeout_s,
            stdin=self._call.prompt if is_read else None,
            silence_s=math.inf if row.is_quiet else spec.silence_s,
            aside=job.gateway,
            talk=self._steering,
            beside=job.checkpoints,
        )
        try:
            ending = self._supervised(order, stop)
            self._transcript.flush()
            left = left_in(self._call.home, row.leaves) if row.leaves else ""
            self._hearing.close(job.redaction(left))
            self._count()
        finally:
            self._transcript.close()
        if ending.fault:
            return ending, Report("missing_tool")
        by_us = ending.timed_out or ending.silent or ending.called_off
        report = self._hearing.report(None if by_us else ending.exit_code)
        return ending, replace(report, trouble=self._trouble(ending) or report.trouble)

    def _supervised(self, order: Order, stop: Stop) -> Ending:
        """Run the engine in a box where there can be one, and note whether it was."""
        job = self._job
        way = job.gateway.way() if job.gateway else None
        with boxed(order.argv, order.folder, job.scratch, job.inputs, way) as box:
            if box:
                order = replace(order, argv=box.argv, fds=box.fds)
            ending = supervise(order, self._transcript.write, stop)
            why = box.why() if box else NO_BOX
        if not ending.fault:
            job.boxed(why)
        if why and not ending.fault:
            self._transcript.note(Unboxed(why=why))
        return ending

    def _talked_to(self) -> Steering | None:
        """Return who talks to the engine while it runs, where it takes that."""
        job, says = self._job, self._row.says
        if job.inbox is None or says is None:
            return None

        def worded(said: Message) -> bytes:
            return says(message(job.started, said.by, said.text))

        told = self._call.prompt.read_text(encoding="utf-8")
        return Steering(says(told), job.inbox, worded)

    def _trouble(self, ending: Ending) -> Error | None:
        gateway = self._job.gateway
        if gateway and gateway.trouble:
            return gateway.trouble
        ended = Error(kind="failed", message="the proxy that holds its key has ended")
        return ended if ending.called_off else None

    def _count(self) -> None:
        """Note what the proxy counted, which is told where the engine tells nothing."""
        if gateway := self._job.gateway:
            gateway.close()
            if gateway.counts:
                self._transcript.note(gateway.sum())
            for used in () if self._says_tokens else gateway.used():
                self._note(used)

    def _note_refused(self, said: Said) -> None:
        if isinstance(said, Refused):
            said = Refused(what=self._job.redaction(said.what))
        self._transcript.note(said)

    def _take(self, stream: Stream, text: str) -> None:
        self._job.show(text)
        self._hearing.feed(stream, text)

    def _note(self, said: Said) -> None:
        if self._steering:
            self._steering.note(said)
            said = self._since(said)
        if not isinstance(said, Text):  # the transcript has it as it was written
            self._transcript.note(said)
        self._says_tokens = self._says_tokens or isinstance(said, Usage)
        if isinstance(said, Usage | Cost):
            self._job.used(said)


def _obeys(row: Row, spec: EngineSpec) -> None:
    if spec.tools and not row.can.tools:
        raise ValueError(
            f"The engine {row.name} cannot be told which tools it may use."
        )


def _no_key(fault: str) -> Error:
    return Error(kind="credentials", message=fault)


def secrets_of(inputs: Inputs, spec: EngineSpec) -> tuple[str, ...]:
    """Return the values that the agent's output must not show."""
    names = (*engines.key_names(), *((spec.secret,) if spec.secret else ()))
    keys = [inputs.offered.get(name, "") for name in names]
    if inputs.feed is not None:
        keys.append(inputs.feed.token)
    if inputs.token is None:
        return tuple(keys)
    return (inputs.token, pair_of(inputs.token), *keys)


def environment_of(job: Job, row: Row, call: Call) -> dict[str, str]:
    """Return all of the agent's environment."""
    started = job.started
    return {
        **plain_environment(job.inputs, call.home, job.scratch / "tmp"),
        "BRAT_PROMPT": str(call.prompt),
        "BRAT_CONVOY": started.convoy,
        "BRAT_TASK": str(started.task),
        "BRAT_ATTEMPT": str(started.attempt),
        "BRAT_TITLE": started.title,
        "BRAT_MODEL": started.engine.model or "",
        **(job.gateway.environment() if job.gateway else {}),
        **reached_by(row, call),
        **row.sets(call),
    }


def _call(job: Job, row: Row) -> Call:
    home = job.scratch / "home"
    file = job.scratch / "prompt.md"
    hosts = job.gateway.hosts if job.gateway else None
    is_told = row.tells or (lambda started: prompt(started, hosts, job.absent))
    file.write_text(is_told(job.started), encoding="utf-8")
    steered = job.inbox is not None and row.says is not None
    endpoint = job.inputs.endpoint
    call = Call(job.started.engine, file, home, steered=steered, endpoint=endpoint)
    return replace(call, key=key_for(row, call, job.inputs.offered))
