"""Server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import json
from collections.abc import Mapping
from typing import Any


def data(value: Mapping[str, Any]) -> bytes:
    """Return an event without a name."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    """Return an event named by the value's own `type`."""
    return f"event: {value['type']}\n".encode() + data(value)
