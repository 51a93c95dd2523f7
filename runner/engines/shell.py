"""Any command: the prompt is a file, named by BRAT_PROMPT; exit status 0 means done.

A Python function as an engine is called in a process of its own:
`python -I -m runner.engines.shell MODULE:NAME ARGUMENT...` calls it in the checkout
with the prompt, from the file that BRAT_PROMPT names. What it returns are its last
words. Its package is imported there and nowhere else: never beside the job's token or a
key.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from msgspec.structs import replace

from runner.box.supervisor import Stream
from runner.engines.engine_events import Said, Text
from runner.engines.row import Call, Row

_STARTED: Final = (sys.executable, "-I", "-m", "runner.engines.shell")


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


def main(target: str, *_: str) -> int:
    """Call the function, which may print."""
    prompt = Path(os.environ["BRAT_PROMPT"])  # noqa: TID251  the engine's own
    said = resolve_name(target)(prompt.read_text(encoding="utf-8"))
    print(said or "")  # noqa: T201  its output is what it says
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
