"""What a service says, one line each on stderr: for people, or as JSON for machines.

What its libraries log goes the same way.
"""

import logging
from collections.abc import Mapping
from typing import Final

import structlog
from structlog.stdlib import BoundLogger, LoggerFactory, ProcessorFormatter
from structlog.typing import Processor

from brat.console import LogForm, Tell

_STAMPED: Final[tuple[Processor, ...]] = (
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
_SHOWN: Final[Mapping[LogForm, tuple[Processor, ...]]] = {
    LogForm.TEXT: (structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0),),
    LogForm.JSON: (
        structlog.processors.dict_tracebacks,
        structlog.processors.JSONRenderer(),
    ),
}


def journal(form: LogForm) -> Tell:
    """Send this process's log to stderr in that form; return what takes its own lines.

    Safe to call twice: the last form holds.
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
