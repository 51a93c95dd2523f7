"""Which way a session goes to the feed, or why it goes none."""

from runner.feed.exchange import Exchange
from runner.feed.lead import Lead
from runner.feed.place import Place, Way
from runner.feed.reach import why_off


def way_of(given: Place | Lead, path: str) -> tuple[Way | None, str]:
    """Return the way, or None and a sentence that says why there is none."""
    if isinstance(given, Place):
        return given, ""
    why = why_off(given.token, path)
    return (None, why) if why else (Exchange(given), "")
