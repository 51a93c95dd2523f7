"""A Python function as a planner: it gets the planning prompt and returns a plan.

`python -I -m runner.engines.planner_plugin NAME MODULE:NAME` calls it in the checkout,
with the file that BRAT_PROMPT names, and leaves what it returns where a plan is looked
for.
The package is imported there and nowhere else: never beside the job's token or a key.
"""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import msgspec

from convoy.planner import FILE
from convoy.planner.asked import Asked, asked
from runner.box.supervisor import Stream
from runner.engines import shell
from runner.engines.engine_events import Error, Said
from runner.engines.row import Row

_FAULT: Final = "brat: "


def row(name: str, target: str) -> Row:
    """Return the row of the planner that `target` (`module:name`) names."""
    module = "runner.engines.planner_plugin"
    return Row(
        name=name,
        argv=lambda _call: (sys.executable, "-I", "-m", module, name, target),
        read=_read,
        prompt="argument",
        tells=asked,
        ends="exits",
        is_quiet=True,
    )


def _read(stream: Stream, line: str) -> Iterator[Said]:
    """Take each line as text, and the line with the failure's reason as the error."""
    if stream == "err" and line.startswith(_FAULT):
        yield Error(kind="failed", message=line.removeprefix(_FAULT))
    else:
        yield from shell.read(stream, line)


def main(name: str, target: str) -> int:
    """Call the function, which may print, and write its plan to the plan's file."""
    prompt = Path(os.environ["BRAT_PROMPT"])  # noqa: TID251  the engine's own
    told = msgspec.json.decode(prompt.read_bytes(), type=Asked)
    try:
        module, _, function = target.partition(":")
        plan = getattr(import_module(module), function)(told)
        Path(FILE).write_bytes(msgspec.json.encode(plan))
    except Exception as error:  # noqa: BLE001  a stranger's code, in a process of its own
        sys.excepthook(type(error), error, error.__traceback__)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"{_FAULT}the planner {name} raised {said}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
