"""Reads a time that is past, as people type it. Pure."""

import re
from datetime import datetime, timedelta
from typing import Final

_AGO: Final = re.compile(r"(\d{1,6})\s*([smhdw])(?:\s+ago)?")
_UNITS: Final = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_HOUR: Final = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")


def past_time(text: str, now: int) -> int:
    """Return a time in unix ms.

    Args:
        text: `14:30` (today, or yesterday if that is yet to come), a date, a date and
            time as in ISO 8601 (of this machine's zone unless it names one), or how
            long ago: `90s`, `15m`, `2h`, `3d`, `1w`.
        now: unix ms.

    Raises:
        ValueError: it is none of these, or is yet to come.
    """
    words = text.strip()
    here = datetime.fromtimestamp(now / 1000).astimezone()
    found = _ago(words, here) or _today(words, here) or _dated(words)
    if found is None:
        raise ValueError(
            f"{text[:40]!r} is no time: write 14:30, 2026-11-24, '2026-11-24 14:30', "
            "or how long ago it was, as in 15m, 2h or 3d"
        )
    if found > here:
        raise ValueError(f"{text[:40]!r} is yet to come")
    return round(found.timestamp() * 1000)


def _ago(words: str, here: datetime) -> datetime | None:
    found = _AGO.fullmatch(words)
    if found is None:
        return None
    try:
        return here - int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        return None


def _today(words: str, here: datetime) -> datetime | None:
    if not _HOUR.fullmatch(words):
        return None
    padded = f"0{words}" if words[1] == ":" else words
    try:
        found = datetime.fromisoformat(f"{here:%Y-%m-%d} {padded}").astimezone()
    except ValueError:
        return None
    return found if found <= here else found - timedelta(days=1)


def _dated(words: str) -> datetime | None:
    try:
        return datetime.fromisoformat(words).astimezone()
    except (ValueError, OverflowError):
        return None
