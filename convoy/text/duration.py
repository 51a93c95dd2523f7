"""Lengths of time as people write them: `90s`, `30m`, `1h30m`."""

import re

_DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?")


def seconds(text: str) -> int:
    """Return the seconds that `text` stands for.

    Raises:
        ValueError: `text` is no such length of time.
    """
    match = _DURATION.fullmatch(text)
    if not match or not text:
        raise ValueError(f"{text!r} is no length of time such as 90s, 30m or 1h30m")
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


def spoken(length_s: int) -> str:
    """Write seconds (0 or more) as `seconds` reads them, as short as it goes."""
    minutes, rest = divmod(length_s, 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"
