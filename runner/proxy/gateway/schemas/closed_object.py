"""What the schemas of all dialects share."""

from typing import Annotated, Any

from msgspec import Meta, Struct

Json = Any
"""Any JSON: what the vendor only hands back or reads as text, such as the arguments of
a tool or the schema of an answer."""
DataUrl = Annotated[str, Meta(pattern=r"\Adata:")]
"""The content itself, in place of an address from which the vendor would fetch it."""
One = Annotated[int, Meta(ge=1, le=1)]


class Closed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object that holds the fields listed and no others."""


class Typed(Closed, frozen=True, kw_only=True, tag_field="type"):
    """One of several objects, told apart by `type`."""
