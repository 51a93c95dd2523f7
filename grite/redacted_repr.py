"""How a record is shown that holds a secret: in a log, a traceback, a failed test."""

from msgspec import Struct


def without(record: Struct, *secrets: str) -> str:
    """Return the `repr` of a record, but for the fields that these names name."""
    names = [name for name in record.__struct_fields__ if name not in secrets]
    shown = ", ".join(f"{name}={getattr(record, name)!r}" for name in names)
    return f"{type(record).__name__}({shown})"
