"""Any command: the prompt is a file, named by BRAT_PROMPT; exit status 0 means done."""

from collections.abc import Iterator

from runner.box.supervisor import Stream
from runner.engines.engine_events import Said, Text
from runner.engines.row import Call, Row


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
