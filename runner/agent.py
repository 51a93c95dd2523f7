"""One run of an engine in its workspace: environment, prompt, output, end.

The environment is built from nothing: what is not named here or in the engine's row
does not reach the agent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from convoy.events import TaskStarted
from convoy.redaction import Redaction
from grite.git import authorization
from runner.engines import ENGINES
from runner.engines.row import Call, Report, Row
from runner.inputs import Inputs
from runner.prompt import prompt
from runner.stop import Stop
from runner.supervise import Ending, Order, Stream, supervise
from runner.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Job:
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


def row_of(started: TaskStarted) -> Row | None:
    """Return the row of the engine that the task asks for; None: it is not known."""
    return ENGINES.get(started.engine.type)


def run(job: Job, folder: Path, stop: Stop) -> tuple[Ending, Report]:
    """Run the task's engine in `folder`; all it started is gone when this returns."""
    started = job.started
    row = row_of(started)
    if row is None:
        known = ", ".join(sorted(ENGINES))
        return _unstarted(
            f"No engine is called {started.engine.type!r}; known: {known}."
        )
    call = _call(job)
    try:
        argv = row.argv(call)
    except ValueError as error:
        return _unstarted(str(error))
    parser = row.parser()

    def read(stream: Stream, text: str) -> None:
        job.show(text)
        if stream == "out":
            parser.feed(text)

    transcript = Transcript(
        job.transcript, job.redaction, started.limits.output_bytes, read
    )
    job.running(argv[0])
    order = Order(
        argv, folder, environment_of(job, row, call), started.engine.timeout_s
    )
    try:
        ending = supervise(order, transcript.write, stop)
    finally:
        transcript.close()
    if ending.fault:
        return ending, Report("missing_tool")
    return ending, parser.report(ending.exit_code)


def secrets_of(inputs: Inputs, row: Row | None) -> tuple[str, ...]:
    """Return the values that the agent's output must not show."""
    needs = row.needs if row else ()
    keys = (inputs.offered.get(name, "") for name in needs)
    if inputs.token is None:
        return tuple(keys)
    # The header that git sends holds the token in another form.
    *_, header = authorization(inputs.token).values()
    return (inputs.token, header.split()[-1], *keys)


def environment_of(job: Job, row: Row, call: Call) -> dict[str, str]:
    """Return all of the agent's environment."""
    started, offered = job.started, job.inputs.offered
    return {
        "PATH": job.inputs.path,
        "HOME": str(call.home),
        "TMPDIR": str(job.scratch / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "true",
        # Nobody's credential helper, and no repository above the checkout.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CEILING_DIRECTORIES": str(job.inputs.workspace),
        "BRAT_PROMPT": str(call.prompt),
        "BRAT_CONVOY": started.convoy,
        "BRAT_TASK": str(started.task),
        "BRAT_ATTEMPT": str(started.attempt),
        "BRAT_TITLE": started.title,
        "BRAT_MODEL": started.engine.model or "",
        **{name: offered[name] for name in row.needs if name in offered},
        **row.sets(call),
    }


def _unstarted(fault: str) -> tuple[Ending, Report]:
    return Ending(fault=fault), Report("missing_tool")


def _call(job: Job) -> Call:
    home, temp = job.scratch / "home", job.scratch / "tmp"
    home.mkdir()
    temp.mkdir()
    file = job.scratch / "prompt.md"
    file.write_text(prompt(job.started), encoding="utf-8")
    return Call(spec=job.started.engine, prompt=file, home=home)
