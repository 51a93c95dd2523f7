"""A second encoder, written from the description of the format alone."""

import struct
from hashlib import blake2b

from grite.event import Event, IssueCreated, Kind, UnknownKind


def head(major: int, n: int) -> bytes:
    for bits, info, form in ((8, 24, ">B"), (16, 25, ">H"), (32, 26, ">I")):
        if n < 24:
            return bytes([major * 32 + n])
        if n < 2**bits:
            return bytes([major * 32 + info]) + struct.pack(form, n)
    return bytes([major * 32 + 27]) + struct.pack(">Q", n)


def plain(value: object) -> bytes:
    match value:
        case None:
            return b"\xf6"
        case int():
            return head(0, value)
        case bytes():
            return head(2, len(value)) + value
        case str():
            return head(3, len(value.encode())) + value.encode()
        case tuple() | list():
            return head(4, len(value)) + b"".join(map(plain, value))
        case _:
            raise TypeError(value)


def plain_payload(kind: Kind) -> bytes:
    match kind:
        case UnknownKind(payload=payload):
            return payload
        case IssueCreated(title, body, labels):
            return plain([title, body, sorted(labels, key=str.encode)])
        case _:
            return plain([getattr(kind, name) for name in kind.__struct_fields__])


def plain_preimage(event: Event) -> bytes:
    front = [1, event.issue, event.actor, event.ts, event.parent, event.kind.tag]
    return head(4, 7) + b"".join(map(plain, front)) + plain_payload(event.kind)


def plain_chunk(events: list[Event]) -> bytes:
    rows = b""
    for event in events:
        name = blake2b(plain_preimage(event), digest_size=32).digest()
        front = [name, event.issue, event.actor, event.ts, event.parent, event.kind.tag]
        rows += head(4, 8) + b"".join(map(plain, front))
        rows += plain_payload(event.kind) + plain(event.sig)
    codec = b"cbor-v1"
    start = b"GRITECNK" + struct.pack("<H", 1) + bytes([len(codec)]) + codec
    return start + head(4, len(events)) + rows
