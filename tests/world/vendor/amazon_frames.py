"""Anthropic's events in the frames of Amazon's event streams, as Bedrock sends them.

https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html
"""

import json
from base64 import b64encode
from struct import pack
from typing import Final
from zlib import crc32

TYPE: Final = "application/vnd.amazon.eventstream"
_HEADERS: Final = (
    (b":event-type", b"chunk"),
    (b":content-type", b"application/json"),
    (b":message-type", b"event"),
)


def framed(event: bytes) -> bytes:
    said = event.partition(b"data: ")[2].strip()
    payload = json.dumps(
        {"bytes": b64encode(said).decode(), "p": "abc"}, separators=(",", ":")
    ).encode()
    headers = b"".join(
        pack(">B", len(name)) + name + pack(">BH", 7, len(value)) + value
        for name, value in _HEADERS
    )
    head = pack(">II", 16 + len(headers) + len(payload), len(headers))
    begun = head + pack(">I", crc32(head)) + headers + payload
    return begun + pack(">I", crc32(begun))
