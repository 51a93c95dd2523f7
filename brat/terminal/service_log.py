"""The log of a service on stderr: lines for people, or JSON for machines.

Log lines of its libraries take the same way.
"""

import logging
from collections.abc import Mapping
from typing import Final

import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer
from structlog.stdlib import BoundLogger, LoggerFactory, ProcessorFormatter
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import Processor

from brat.terminal.console import LogForm, Tell

_STAMPED: Final[tuple[Processor, ...]] = (
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
# Without local variables: one of them may hold a token.
_PEOPLE: Final = structlog.dev.ConsoleRenderer(
    colors=False,
    pad_event_to=0,
    exception_formatter=structlog.dev.plain_traceback,
)
_MACHINES: Final = ExceptionRenderer(ExceptionDictTransformer(show_locals=False))
_SHOWN: Final[Mapping[LogForm, tuple[Processor, ...]]] = {
    LogForm.TEXT: (_PEOPLE,),
    LogForm.JSON: (_MACHINES, JSONRenderer()),
}


def journal(form: LogForm) -> Tell:
    """Send this process's log to stderr in the given form; return its log function.

    Safe to call twice: the last form counts.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=_STAMPED,
            processors=(ProcessorFormatter.remove_processors_meta, *_SHOWN[form]),
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
