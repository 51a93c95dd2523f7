"""`brat mayor ask`: an engine answers a question and changes nothing.

The engine runs as in a session, with an environment built from nothing, in a clone
that is thrown away. Its prompt holds the log's account of the convoys, as data.
"""

import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from bot import wall_clock
from brat.local import local_mode
from brat.local.start_checks import MODEL_URL, engine_lacks, model_keys
from brat.repository import checkout as checkouts
from brat.repository.checkout import Checkout
from brat.repository.log_reader import Reader, log_repository
from brat.terminal.console import say, write
from convoy.config import Config
from convoy.events.session_events import TaskStarted
from convoy.model.records import EngineSpec, Settings
from convoy.model.state import State
from convoy.text import Redaction, clean, cut, did_you_mean, fence_of, fenced, redacted
from convoy.views import state_document
from convoy.views.reasons import reasons
from grite import git
from grite.errors import BratError
from runner.box import surroundings
from runner.box.supervisor import Ending, Stop
from runner.engines.output_reader import Report
from runner.inputs.job_inputs import Inputs
from runner.session import engine_run, proxy_client
from runner.session.proxy_client import ProxyClient

LOG_CHARS: Final = 40_000
_BRIEF: Final = """\
Answer the question that stands above, for a person who works on this repository; the
current folder is a checkout of it. Look around, and change nothing: it is thrown away.
Your last message is the answer, in Markdown. What the log says of the convoys now:

{log}
"""


def ask(path: Path, question: str, engine: str | None) -> int:
    """Print an engine's answer to a question; return 0."""
    if not question.strip():
        raise BratError("the question is empty: say what you want to know")
    checkout = checkouts.find(path)
    config = local_mode.configuration(checkout)
    name = engine or config.mayor.engine or "default"
    known = config.settings().workers
    if name not in known:
        names = ", ".join(sorted(known))
        near = did_you_mean(name, known)
        raise BratError(f"there is no engine {name}; there are {names}{near}")
    if lacks := [*engine_lacks(checkout, config, name)]:
        raise BratError("\n".join(map(str, lacks)))
    say(f"asking the engine {name}; nothing is changed by it")
    with tempfile.TemporaryDirectory(prefix="brat-ask-") as folder:
        ending, report = _run(Path(folder), checkout, config, (known[name], question))
    lines = [line for line in report.text.split("\n") if not line.startswith("BRAT:")]
    answer = redacted("\n".join(lines).strip())
    if ending.exit_code != 0 or not answer:
        why = report.trouble.message if report.trouble else ending.fault
        raise BratError(f"the engine {name} gave no answer{why and ': '}{why}")
    write(clean(answer))
    return 0


def _run(
    folder: Path, checkout: Checkout, config: Config, asked: tuple[EngineSpec, str]
) -> tuple[Ending, Report]:
    project = folder / "project"
    git.run(["clone", "--quiet", "--no-hardlinks", str(checkout.top), str(project)])
    git.run(["remote", "remove", "origin"], cwd=project)
    inputs = _inputs(folder, config)
    started = _started(config.settings(), *asked, _log(checkout.top))
    with proxy_client.session_proxy(inputs, started) as proxy, Stop() as stop:
        return engine_run.run_engine(
            _job(folder, inputs, started, proxy), project, stop
        )


def _job(
    folder: Path, inputs: Inputs, started: TaskStarted, proxy: ProxyClient | None
) -> engine_run.Job:
    scratch = folder / "scratch"
    scratch.mkdir()
    surroundings.create_home(scratch)
    return engine_run.Job(
        inputs=inputs,
        started=started,
        scratch=scratch,
        transcript=folder / "transcript.jsonl",
        redaction=Redaction(engine_run.secrets_of(inputs, started.engine)),
        show=lambda _: None,
        running=lambda _: None,
        boxed=lambda _: None,
        used=lambda _: None,
        proxy=proxy,
    )


def _started(
    settings: Settings, engine: EngineSpec, question: str, log: str
) -> TaskStarted:
    session = secrets.token_hex(16)
    return TaskStarted(
        convoy="ask",
        task=0,
        attempt=1,
        session=session,
        nonce="",
        base="",
        branch="",
        title="A question",
        instructions=question,
        kind="report",
        brief=_BRIEF.format(log=fenced(clean(log), fence_of(session))),
        engine=engine,
        limits=settings.limits,
        gate=settings.gate,
        egress=settings.egress,
        box=settings.box,
    )


def _log(top: Path) -> str:
    """Return the log's current state as JSON, cut, or a note that there is no log."""
    try:
        state = Reader(log_repository(top)).read()
    except BratError:
        return "There is no log here yet, and no convoy."
    now = wall_clock()
    told = {"state": state_document(state, now), "why": _why(state, now)}
    return cut(json.dumps(told, indent=1), LOG_CHARS)


def _why(state: State, now: int) -> dict[str, list[str]]:
    return {
        f"{convoy.name}, task {task.number}": [*reasons(state, convoy, task, now)]
        for convoy in state.live()
        for task in convoy.tasks
        if not task.settled
    }


def _inputs(folder: Path, config: Config) -> Inputs:
    offered = model_keys(config)
    return Inputs(
        convoy="ask",
        task=0,
        attempt=1,
        log="",
        url="",
        token=None,
        result=folder / "result",
        temp=folder,
        workspace=folder,
        path=os.pathsep.join(os.get_exec_path()),
        on_actions=False,
        output=None,
        summary=None,
        cache=None,
        objects=None,
        endpoint=offered.get(MODEL_URL, ""),
        hidden=(),
        shown=(),
        offered=offered,
    )
