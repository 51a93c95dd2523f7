"""Runs one job: the session that the environment names, below a guard.

The exit status is 0 if the result is success or noop, 1 if it is anything else, 2 for
bad inputs, 75 if the forge does not answer, 3 if the fault is ours.
"""

import io
import sys
import time
from collections.abc import Callable, Mapping

from convoy.events.session_events import TaskStarted
from grite import outbound
from grite.errors import Unavailable
from runner.box.guard import guarded
from runner.box.process_hardening import harden
from runner.box.stop_signals import Cancelled
from runner.inputs.job_inputs import BadInput, Inputs, environment, read
from runner.inputs.prompted_task import prompted
from runner.result.job_annotations import annotate, mask
from runner.session.session_run import attend
from runner.workspace.session_folders import Folders, fresh_folders

PROMPTS = "BRAT_TASK_PROMPT", "BRAT_TASK_PROMPT_FILE"
"""The variables by which a job describes its task itself."""
DONE, NOT_DONE, BAD_INPUT, OUR_FAULT, TRY_LATER = 0, 1, 2, 3, 75


def run() -> int:
    """Run the session and return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # agents write anything
    return _told(_guarded)


def _guarded() -> int:
    """Run the session below a guard, which ends every process it leaves running."""
    env = environment()
    inputs, started = _asked(env)
    harden(inputs.path, outbound.named_in(inputs.offered).variables)
    mask(inputs, sys.stdout)
    with fresh_folders(inputs) as folders:
        return guarded(lambda: _told(lambda: _attend(inputs, started, folders)))


def _asked(env: Mapping[str, str]) -> tuple[Inputs, TaskStarted | None]:
    """Return the job's inputs, and the attempt that they describe themselves, if so."""
    if not any(env.get(name, "").strip() for name in PROMPTS):
        return read(env), None
    task = prompted(env)
    inputs = read(task.environment(env))
    return inputs, task.started(inputs)


def _attend(inputs: Inputs, started: TaskStarted | None, folders: Folders) -> int:
    result = attend(inputs, folders, lambda: time.time_ns() // 1_000_000, started)
    annotate(inputs, result, sys.stdout, is_alone=started is not None)
    return DONE if result.conclusion in {"success", "noop"} else NOT_DONE


def _told(work: Callable[[], int]) -> int:
    """Run the session and return its status; print a sentence if it cannot run."""
    try:
        return work()
    except BadInput as error:
        return _say(str(error), BAD_INPUT)
    except Unavailable as error:
        return _say(f"The forge does not answer: {error}.", TRY_LATER)
    except Cancelled:
        return _say("The job was cancelled before it had begun.", NOT_DONE)
    except Exception as error:  # noqa: BLE001  the one place: it is our fault, and said
        sys.excepthook(type(error), error, error.__traceback__)
        return OUR_FAULT


def _say(sentence: str, status: int) -> int:
    sentence = " ".join(sentence.split()).rstrip(".")
    print(f"brat: {sentence}.", file=sys.stderr)  # noqa: T201  for people
    return status
