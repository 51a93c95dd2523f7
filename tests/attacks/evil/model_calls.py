"""Calls of the model's vendor by which a closed network is left, or the key read."""

import json
import os
import re
import socket
from http.client import HTTPConnection, HTTPException

from tests.attacks.evil.attempt import attempt
from tests.attacks.evil.targets import Targets

PATHS = "/v1/files", "/v1/messages/../files", "/v1/messages/%2e%2e/files"
PLAIN: dict[str, object] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "x"}],
}
URL = "https://example.test/?stolen"
IMAGE = {"type": "image", "source": {"type": "url", "url": URL}}
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


def _none_passed(statuses: list[int]) -> str:
    if all(400 <= each < 500 for each in statuses):
        raise Refused
    return ""


@attempt
def other_paths_of_the_model_s_vendor(at: Targets) -> str:
    """Ask for what the key may have, by every spelling; seen at the vendor's."""
    read = [_asked("GET", path) for path in PATHS]
    return _none_passed([*read, *(_asked("POST", path, PLAIN) for path in PATHS)])


@attempt
def the_vendor_as_a_way_out(at: Targets) -> str:
    """Send what makes the vendor fetch, keep or run; seen at the vendor's."""
    bodies = [PLAIN | each for each in BODIES]
    return _none_passed([_asked("POST", "/v1/messages", each) for each in bodies])


@attempt
def a_model_that_nobody_chose(at: Targets) -> str:
    body = PLAIN | {"model": "the-dearest-one"}
    return _none_passed([_asked("POST", "/v1/messages", body)])


@attempt
def a_call_that_is_allowed(at: Targets) -> str:
    """Call the model as an engine does: that it comes in shows that the way is open."""
    _asked("POST", "/v1/messages", PLAIN)
    return ""


@attempt
def a_key_in_an_answer_of_the_gateway(at: Targets) -> str:
    return "read it" if any(map(at.holds, ANSWERS)) else ""
