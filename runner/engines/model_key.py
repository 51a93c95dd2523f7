"""The key of an engine's model: from one variable of the job's environment.

The configuration names the variable (`secret`), else the engine's row does. No file of
the repository and no event holds a key.
"""

from collections.abc import Mapping
from typing import Final

from runner.engines.row import Call, Key, Row, vendor_of

STAND_IN: Final = "brat"
"""The key for a server that stands in for the vendor, if there is no real key."""


def key_for(row: Row, call: Call, offered: Mapping[str, str]) -> Key | None:
    """Return the key that `offered` holds for this call; None: there is none."""
    vendor = vendor_of(row, call)
    for name in _names(row, call):
        if value := offered.get(name, ""):
            kept = vendor is None or name in row.also
            return Key(name if kept or vendor is None else vendor.key, value)
    if vendor and call.endpoint:
        return Key(vendor.key, STAND_IN)
    return None


def missing_key(row: Row, call: Call) -> str:
    """Return a sentence that says that the key is missing, or "" if it is there."""
    vendor = vendor_of(row, call)
    if call.key or (vendor is None and not call.spec.secret):
        return ""
    names = " or ".join(_names(row, call))
    return (
        f"The engine {row.name} needs its key in the variable {names}, "
        "which is not set in the job's environment."
    )


def _names(row: Row, call: Call) -> tuple[str, ...]:
    """Return the variables that may hold the key."""
    if call.spec.secret:
        return (call.spec.secret,)
    vendor = vendor_of(row, call)
    return (vendor.key, *row.also) if vendor else ()
