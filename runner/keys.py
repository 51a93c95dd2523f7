"""The key of an engine's model: from one variable of the job's environment.

The configuration names the variable (`secret`), else the engine's row does; a key is in
no file of the repository and in no event.
"""

from collections.abc import Mapping
from typing import Final

from runner.engines.row import Call, Key, Row, vendor_of

STAND_IN: Final = "brat"
"""The key for a stand-in server that is given none."""


def key_for(row: Row, call: Call, offered: Mapping[str, str]) -> Key | None:
    """Return the key that `offered` holds for this call; None: there is none."""
    vendor = vendor_of(row, call)
    usual = (vendor.key, *row.also) if vendor else ()
    for name in (call.spec.secret,) if call.spec.secret else usual:
        if value := offered.get(name, ""):
            kept = vendor is None or name in row.also
            return Key(name if kept or vendor is None else vendor.key, value)
    if vendor and call.endpoint:
        return Key(vendor.key, STAND_IN)
    return None


def missing_key(row: Row, call: Call) -> str:
    """Say that the key is missing, in one sentence; empty: it is not."""
    vendor = vendor_of(row, call)
    if call.key or (vendor is None and not call.spec.secret):
        return ""
    usual = (vendor.key, *row.also) if vendor else ()
    names = (call.spec.secret,) if call.spec.secret else usual
    return (
        f"The engine {row.name} needs its key in the variable {' or '.join(names)}, "
        "which is not set in the job's environment."
    )
