"""Any command: the prompt is a file, named by BRAT_PROMPT; exit status 0 means done.

Python functions as engines and as planners are each called in a process of their own.
`python -I -m runner.engines.shell MODULE:NAME ARGUMENT...` calls an engine's function
in the checkout with the prompt, from the file that BRAT_PROMPT names. What it returns
are its last words. `... --planner NAME MODULE:NAME` calls a planner's, and leaves what
it returns where a plan is looked for. The package is imported there and nowhere else:
never beside the job's token or a key.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

import msgspec
from msgspec.structs import replace

from convoy.planner import FILE, Asked, asked
from runner.box.supervisor import Stream
from runner.engines.engine_events import Error, Said, Text
from runner.engines.row import Call, Row

_STARTED: Final = (sys.executable, "-I", "-m", "runner.engines.shell")
_PLANNER: Final = "--planner"
_FAULT: Final = "brat: "


def read(stream: Stream, line: str) -> Iterator[Said]:
    if line.strip():
        yield Text(text=line, by="agent" if stream == "out" else "program")


def _argv(call: Call) -> tuple[str, ...]:
    if not call.spec.args:
        raise ValueError(
            'The engine has no command; set args, such as ["sh", "agent.sh"].'
        )
    return call.spec.args


ROW = Row(
    name="shell", argv=_argv, read=read, prompt="argument", ends="exits", is_quiet=True
)


def function_row(name: str, target: str) -> Row:
    return replace(
        ROW, name=name, argv=lambda call: (*_STARTED, target, *call.spec.args)
    )


def planner_row(name: str, target: str) -> Row:
    return replace(
        ROW,
        name=name,
        argv=lambda _call: (*_STARTED, _PLANNER, name, target),
        read=_read_planner,
        tells=asked,
    )


def _read_planner(stream: Stream, line: str) -> Iterator[Said]:
    """Take each line as text, and the line with the failure's reason as the error."""
    if stream == "err" and line.startswith(_FAULT):
        yield Error(kind="failed", message=line.removeprefix(_FAULT))
    else:
        yield from read(stream, line)


def main(first: str, *rest: str) -> int:
    """Call the function or the planner; both may print."""
    prompt = Path(os.environ["BRAT_PROMPT"])  # noqa: TID251  the engine's own
    if first != _PLANNER:
        said = resolve_name(first)(prompt.read_text(encoding="utf-8"))
        print(said or "")  # noqa: T201  its output is what it says
        return 0
    name, target = rest
    told = msgspec.json.decode(prompt.read_bytes(), type=Asked)
    try:
        Path(FILE).write_bytes(msgspec.json.encode(resolve_name(target)(told)))
    except Exception as error:  # noqa: BLE001  a stranger's code, in a process of its own
        sys.excepthook(type(error), error, error.__traceback__)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"{_FAULT}the planner {name} raised {said}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
