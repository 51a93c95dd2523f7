"""Gemini Code Assist, which a Google login reaches: Gemini's content in an envelope.

https://github.com/google-gemini/gemini-cli (packages/core/src/code_assist)
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.world.vendor import gemini_content
from tests.world.vendor.conversation import Asked, Frames, Turn, data

ACCOUNT: Final = {
    "currentTier": {"id": "standard-tier", "name": "Gemini Code Assist"},
    "cloudaicompanionProject": "acme",
}
"""What an account may use that has signed in before."""


def read(body: Mapping[str, Any]) -> Asked:
    """Read a request; the URL names the streaming."""
    return replace(gemini_content.read(body["request"]), model=body["model"])


def whole(asked: Asked, turn: Turn) -> dict[str, Any]:
    return {"response": gemini_content.whole(asked, turn), "traceId": "1"}


def frames(asked: Asked, turn: Turn) -> Frames:
    plain = gemini_content.frames(asked, turn)
    return Frames((), _enveloped(plain.body), _enveloped(plain.tail))


def _enveloped(events: Iterable[bytes]) -> tuple[bytes, ...]:
    pieces = (json.loads(each.removeprefix(b"data: ")) for each in events)
    return tuple(data({"response": each, "traceId": "1"}) for each in pieces)


fault = gemini_content.fault
