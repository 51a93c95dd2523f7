"""Says by paths what a box's places mean, for Landlock: it knows folders, no mounts.

A folder that is given to Landlock is given with all that lies in it. So a folder in
which something is hidden is given entry by entry, and cannot be listed itself.
"""

import os
from collections.abc import Iterator, Sequence

from runner.box.root_folder import HIDDEN, SEEN, WRITABLE

DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
"""What every program expects to be able to write to. Not /dev/shm: the machine's own is
shared with whoever else runs there."""
READ = ("/proc", "/dev/random", "/dev/urandom")
_WORDS = 3


def read_only(words: Sequence[str]) -> list[str]:
    """Return what may be read.

    Args:
        words: kind, source and target of each place.
    """
    hidden = _sources(words, HIDDEN)
    seen = (each for path in _sources(words, SEEN) for each in _without(path, hidden))
    return [*seen, *READ]


def writable(words: Sequence[str]) -> list[str]:
    """Return what may be written to.

    Raises:
        OSError: something is hidden in it, so it cannot be given.
    """
    found = _sources(words, WRITABLE)
    for path in found:
        for each in _sources(words, HIDDEN):
            if f"{each}/".startswith(f"{path}/"):
                raise OSError(1, f"{each} cannot be hidden in {path}", each)
    return [*found, *DEVICES]


def _sources(words: Sequence[str], kind: str) -> list[str]:
    places = (words[at : at + _WORDS] for at in range(0, len(words), _WORDS))
    return [source for is_of, source, _ in places if is_of == kind]


def _without(path: str, hidden: Sequence[str]) -> Iterator[str]:
    """Yield a path, or what is in it without what is hidden."""
    if path in hidden:
        return
    if not any(each.startswith(f"{path}/") for each in hidden):
        yield path
        return
    try:
        names = os.listdir(path)  # noqa: PTH208  pathlib takes 5 ms
    except OSError:  # nor could the agent read it
        return
    for name in names:
        yield from _without(f"{path}/{name}", hidden)
