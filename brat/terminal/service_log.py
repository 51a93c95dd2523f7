"""The log of a service on stderr: lines for people, or JSON for machines.

Log lines of its libraries take the same way.
"""

import logging
from typing import Final

import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer
from structlog.stdlib import BoundLogger, LoggerFactory, ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

from brat.terminal.console import Tell
from grite.short_traceback import short_line, short_traceback

_STAMPED: Final[tuple[Processor, ...]] = (
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
_PEOPLE: Final = structlog.dev.ConsoleRenderer(
    colors=False,
    pad_event_to=0,
    exception_formatter=structlog.dev.plain_traceback,  # there is none left by then
)


def _cut(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Keep a line short, and without secrets, whoever wrote it."""
    line["event"] = short_line(str(line["event"]))
    return line


def journal(*, as_json: bool = False) -> Tell:
    """Send this process's log to stderr; return its log function.

    Safe to call twice: the last form counts.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=_STAMPED,
            processors=(
                ProcessorFormatter.remove_processors_meta,
                ExceptionRenderer(lambda raised: short_traceback(raised[1])),
                _cut,
                JSONRenderer() if as_json else _PEOPLE,
            ),
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each request
    structlog.configure(
        processors=(*_STAMPED, ProcessorFormatter.wrap_for_formatter),
        logger_factory=LoggerFactory(),
        wrapper_class=BoundLogger,
    )
    log: BoundLogger = structlog.get_logger("brat")

    def tell(line: str) -> None:
        log.info(line)

    return tell
