"""The parts of a job's page on the forge: live output, outputs, a summary, an error.

Nothing that an agent wrote may be taken for a workflow command. So its output stands
between `stop-commands` marks that it cannot guess, and all other text is escaped as
GitHub's toolkit does it.
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from convoy.model import ids
from convoy.model.session_result import usage_noted, walls_in_words
from convoy.text import code_block, counted
from grite.git import pair_of
from runner.inputs.job_inputs import Inputs
from runner.session.result_folder import PATCH, RESULT, TRANSCRIPT, USAGE, Result


def job_outputs(folder: Path, result: Result, *, is_alone: bool) -> dict[str, str]:
    """Return a session's outputs; some are empty for one of no convoy."""
    patch, shown, used = str(folder / PATCH), str(folder / TRANSCRIPT), folder / USAGE
    lines = used.read_bytes() if used.is_file() else b""
    tokens, usd = usage_noted(lines)
    has_tokens = b'"input_tokens"' in lines
    of_convoy = {
        "session-id": result.session,
        "attempt": str(result.attempt),
        "branch": ids.task_branch(result.convoy, result.task),
    }
    return {
        "conclusion": result.conclusion,
        **(dict.fromkeys(of_convoy, "") if is_alone else of_convoy),
        "head-sha": result.commit or "",
        "summary": result.summary,
        "patch": patch if Path(patch).is_file() else "",
        "result-file": str(folder / RESULT),
        "transcript-file": shown if Path(shown).is_file() else "",
        "duration-seconds": f"{result.seconds:.0f}",
        "input-tokens": str(tokens.input_tokens) if has_tokens else "",
        "output-tokens": str(tokens.output_tokens) if has_tokens else "",
        "cache-read-tokens": str(tokens.cached_tokens) if has_tokens else "",
        "total-cost-usd": "" if usd is None else f"{round(usd, 6):.12g}",
    }


LIVE_CHARS = 1_000_000
"""A job's log is for a first look; the transcript has the rest."""
SUMMARY_BYTES = 1_000_000
"""GitHub takes 1 MiB a step."""
_CUT = (
    "\n[the rest of the output is in transcript.jsonl, in the artifact brat-result]\n"
)
LISTED_FILES = 100


def escaped(text: str) -> str:
    """Return `text` as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def error(message: str, title: str) -> str:
    about = escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::error title={about}::{escaped(message)}"


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def mask(inputs: Inputs) -> None:
    """Let the forge hide the encoded form of its token like the token itself.

    https://docs.github.com/actions/reference/security/secure-use#use-secrets-for-sensitive-information
    """
    if inputs.on_actions and inputs.token is not None:
        _show(f"::add-mask::{pair_of(inputs.token)}\n")


def note(inputs: Inputs, sentence: str) -> None:
    """Write a sentence that people should know, though nothing fails because of it."""
    command = f"::notice title=brat::{escaped(sentence)}"
    _show((command if inputs.on_actions else f"brat: {sentence}") + "\n")


@contextmanager
def live_view(
    inputs: Inputs, feed: Callable[[str], None] = lambda _text: None
) -> Iterator[Callable[[str], None]]:
    """Yield what shows a piece of output in the log of a job of the forge, and a feed.

    In the log it does so up to a limit for all pieces.
    """
    mark, is_open = os.urandom(16).hex(), False
    left = LIVE_CHARS if inputs.on_actions else 0

    def show(text: str) -> None:
        nonlocal left, is_open
        if left > 0:
            _show(text[:left] if is_open else f"::stop-commands::{mark}\n{text[:left]}")
            is_open = True
            left -= len(text)
            if left <= 0:
                _show(_CUT)
        feed(text)

    try:
        yield show
    finally:
        if is_open:
            _show(f"\n::{mark}::\n")


def annotate(inputs: Inputs, result: Result, *, is_alone: bool = False) -> None:
    """Report the result in log, outputs and summary; `is_alone`: of no convoy."""
    who = "the task" if is_alone else result.session
    line = f"{who}: {result.conclusion}. {result.why}"
    is_good = result.conclusion in {"success", "noop"}
    if inputs.on_actions and not is_good:
        line = error(result.why, f"brat {who}: {result.conclusion}")
    _show(escaped(line) + "\n" if is_good else line + "\n")
    if inputs.output:
        values = job_outputs(inputs.result, result, is_alone=is_alone).items()
        _append(inputs.output, "".join(output(*each) for each in values))
    if inputs.summary:
        _append(inputs.summary, summary(result, who))


def output(name: str, value: str) -> str:
    """Return the lines that set an output, between marks that `value` cannot hold."""
    mark = f"ghadelimiter_{os.urandom(16).hex()}"
    if mark in value or mark in name:
        raise ValueError("an output contains its own random delimiter")
    return f"{name}<<{mark}\n{value}\n{mark}\n"


def summary(result: Result, who: str) -> str:
    """Return the step's summary in Markdown; the agent's words only in code blocks."""
    files = "\n".join(result.files[:LISTED_FILES])
    more = len(result.files) - LISTED_FILES
    parts = [
        f"### brat {who}: {result.conclusion}\n",
        _fenced(result.why),
        "The agent said:\n\n" + _fenced(result.summary) if result.summary else "",
        f"{_OPEN}\n\n{_fenced(result.network)}" if result.network else "",
        f"{_UNBOXED}\n\n{_fenced(result.box)}" if result.box else "",
        f"Isolation of the agent: {walls_in_words(result.walls)}\n",
        "Refused:\n\n" + _fenced("\n".join(result.refusals)) if result.refusals else "",
        "Changed:\n\n" + _fenced(files) if files else "",
        f"and {counted(more, 'more file')}\n" if more > 0 else "",
    ]
    text = "\n".join(part for part in parts if part)
    return text.encode()[:SUMMARY_BYTES].decode(errors="ignore")


_OPEN = (
    "brat could not isolate the agent's network here. The agent was told to use its "
    "proxy, but could not be forced to."
)
_UNBOXED = (
    "The agent had no sandbox here. If it started, it could read and write "
    "everything that the job's user can, and see and kill its processes."
)


def _fenced(text: str) -> str:
    return f"{code_block(text)}\n"


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)
