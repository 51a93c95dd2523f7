"""The known name that somebody most likely meant."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when none is like it.

    Case does not count; of two that are equally like it, the first of the alphabet.
    """
    from difflib import get_close_matches  # it takes 2 ms, and few names are wrong

    folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(name[:100].casefold(), sorted(folded), n=1)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing when no known name is like `name`."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
