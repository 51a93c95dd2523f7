"""Any command: the prompt is a file, named by BRAT_PROMPT; exit status 0 means done."""

from runner.engines.row import Call, Report, Row

SUMMARY_CHARS = 500
_TAIL_CHARS = 8192


class _Parser:
    """Takes the last line for the summary."""

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> None:
        self._tail = (self._tail + text)[-_TAIL_CHARS:]

    def report(self, exit_code: int | None) -> Report:
        last = self._tail.strip().rpartition("\n")[2].strip()
        return Report("done" if exit_code == 0 else None, last[:SUMMARY_CHARS])


def _argv(call: Call) -> tuple[str, ...]:
    if not call.spec.args:
        raise ValueError(
            'The engine has no command; give it args, such as ["sh", "agent.sh"].'
        )
    return call.spec.args


ROW = Row(name="shell", argv=_argv, parser=_Parser)
