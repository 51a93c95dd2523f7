"""One job: a session is run as the environment says, below a guard.

It ends with 0 when a result says success or noop, 1 when it says anything else, 2 on
bad inputs, 75 when the forge does not answer, 3 when the fault is ours.
"""

import io
import sys
import time
from collections.abc import Callable

from grite.errors import Unavailable
from runner.annotate import annotate, mask
from runner.folders import Folders, fresh_folders
from runner.guard import guarded
from runner.inputs import BadInput, Inputs, environment, read
from runner.seal import seal
from runner.stop import Cancelled
from runner.witness import attend

DONE, NOT_DONE, BAD_INPUT, OUR_FAULT, TRY_LATER = 0, 1, 2, 3, 75


def run() -> int:
    """Run the session and return the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # agents write anything
    return _told(_guarded)


def _guarded() -> int:
    """Attend the session below a guard, which clears away what a killed one leaves."""
    inputs = read(environment())
    seal(inputs.path)
    mask(inputs, sys.stdout)
    with fresh_folders(inputs) as folders:
        return guarded(lambda: _told(lambda: _attend(inputs, folders)))


def _attend(inputs: Inputs, folders: Folders) -> int:
    result = attend(inputs, folders, lambda: time.time_ns() // 1_000_000)
    annotate(inputs, result, sys.stdout)
    return DONE if result.conclusion in {"success", "noop"} else NOT_DONE


def _told(work: Callable[[], int]) -> int:
    """Do it and return its status; say in a sentence why it could not be done."""
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
