"""Webhooks and what they carried."""

import zlib

from brat.forge.resources.resource_record import Record


class Hook(Record, frozen=True, kw_only=True):
    """A webhook."""

    repo: int
    """The id of the repository or other record that the hook belongs to."""
    url: str
    secret: str
    events: tuple[str, ...]
    """`*` stands for all."""
    created_at: str
    updated_at: str
    active: bool = True


class Delivery(Record, frozen=True, kw_only=True):
    """One try to deliver one payload."""

    hook: int
    repo: int
    guid: str
    """The same for each try with the same payload."""
    event: str
    created_at: str
    action: str | None = None
    installation: int | None = None
    redelivery: bool = False
    pending: bool = True
    status: str = "pending"
    status_code: int = 0
    duration_s: float = 0.0


class Payload(Record, frozen=True, kw_only=True):
    """What a delivery carries; its id is the delivery's."""

    hook: int
    body: str = ""
    """As earlier versions kept it."""
    packed: bytes = b""
    """The body, compressed: it says much twice."""

    @property
    def data(self) -> bytes:
        """The body's bytes."""
        return zlib.decompress(self.packed) if self.packed else self.body.encode()
