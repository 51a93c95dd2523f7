"""A program that appends events to a log until all of its own are in.

Run as `python -m tests.grite.appender MIRROR NUMBER EVENTS`.
"""

import sys
from pathlib import Path

from grite.errors import Conflict
from grite.event import CommentAdded, Event
from grite.wal import Log


def main(mirror: str, number: str, events: str) -> None:
    log = Log(Path(mirror))
    actor = bytes([int(number)]) * 16
    for k in range(int(events)):
        event = Event(bytes(16), actor, 1_700_000_000_000 + k, CommentAdded(f"{k}"))
        while True:
            try:
                log.append([event], after=log.head(), actor=actor, at_ms=event.ts)
            except Conflict:
                continue
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
