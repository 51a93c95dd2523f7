"""The kind of trouble of an error: by its HTTP status, else by its words.

The words are those that the engines of docs/engines.md were seen to print. Any other
error is the engine's own failure, and costs an attempt like any other.
"""

import re
from collections.abc import Iterator
from http import HTTPStatus

from convoy.model.session_result import Trouble
from runner.engines.engine_events import Error, RateLimit, Said

MESSAGE_CHARS = 500
_SERVER_ERRORS = 500

_BUDGET = (
    r"credit balance|insufficient[_ ]quota|plan and billing|payment required"
    r"|max_budget|max_turns|maximum budget|turn limit"
)
_LIMITED = (
    r"rate.?limit|too many requests|usage limit|session limit|daily quota"
    r"|quota exceeded|exhausted|\b429\b"
)
_CREDENTIALS = (
    r"authenticat|unauthori[sz]ed|api[ _]key|not logged in|permission denied"
    r"|missing environment variable|\b40[13]\b"
)
_DOWN = (
    r"overloaded|high demand|connect|network|unavailable|timed? ?out|internal ?server"
    r"|server_error|bad gateway|stream (?:ended|disconnected|closed)|fetch failed"
    r"|\b5\d\d\b|ECONN|incomplete json|malformed response|interrupted"
    r"|failed to get response|\bterminated\b|server had an error|internal error"
)
_WORDS: tuple[tuple[Trouble, str], ...] = (
    ("budget", _BUDGET),
    ("rate_limited", _LIMITED),
    ("credentials", _CREDENTIALS),
    ("vendor_down", _DOWN),
)
_STATUS = r'(?:\bstatus:? |\bcode"?: ?|^\(?)([45]\d\d)\b'
_WAIT = r"try again in ([0-9]{1,6}(?:\.[0-9]+)?) ?(m?s|m|h)\b"
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _says(words: str, message: str) -> bool:
    # Compiled when first asked for: it takes 2 ms, and most sessions have no trouble.
    return re.search(words, message, re.IGNORECASE) is not None


def kind_of(status: int | None, message: str) -> Trouble:
    """Return the kind of trouble of an error."""
    match status:
        case None:
            return next((k for k, words in _WORDS if _says(words, message)), "failed")
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return "credentials"
        case HTTPStatus.PAYMENT_REQUIRED:
            return "budget"
        case _ if _says(_BUDGET, message):
            return "budget"
        case HTTPStatus.TOO_MANY_REQUESTS:
            return "rate_limited"
        case HTTPStatus.REQUEST_TIMEOUT:
            return "vendor_down"
        case _:
            return "vendor_down" if status >= _SERVER_ERRORS else "failed"


def error(message: str, status: int | None = None) -> Error:
    """Return an error judged by its status, the status in its message, or its words."""
    found = re.search(_STATUS, message) if status is None else None
    status = int(found[1]) if found else status
    shown = " ".join(message.split())[:MESSAGE_CHARS]
    return Error(kind=kind_of(status, message), message=shown, status=status)


def errors(message: str, status: int | None = None) -> Iterator[Said]:
    """Yield the error, and the time to wait if its message names one."""
    found = error(message, status)
    yield found
    wait = re.search(_WAIT, message)
    if found.kind == "rate_limited" and wait:
        yield RateLimit(wait_s=float(wait[1]) * _UNIT_S[wait[2]])
