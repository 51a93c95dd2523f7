"""What is said on a program's standard input while it runs; never waits for it."""

import contextlib
import os
from typing import IO, Protocol

CHUNK_BYTES = 65_536


class Talk(Protocol):
    """Who has something to say."""

    def next(self) -> bytes | None:
        """Return what is to be said now; empty: nothing yet; None: nothing any more.

        Whoever asks has said all that was returned before.
        """


class Mouth:
    """Says it, as far as the program listens."""

    def __init__(self, pipe: IO[bytes], talk: Talk) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._talk = talk
        self._unsaid = b""

    def fileno(self) -> int:
        """Return what becomes writable when more can be said."""
        return self._pipe.fileno()

    def turn(self) -> bool:
        """Say what can be said now; return whether the program is to listen first."""
        while not self._pipe.closed:
            if not self._unsaid:
                said = self._talk.next()
                if said is None:
                    self.close()
                    return False
                self._unsaid = said
            if not self._unsaid:
                return False
            try:
                count = os.write(self._pipe.fileno(), self._unsaid[:CHUNK_BYTES])
            except BlockingIOError:
                return True
            except OSError:  # it listens no more
                self.close()
                return False
            self._unsaid = self._unsaid[count:]
        return False

    def close(self) -> None:
        """Let the program know that nothing follows; safe to call twice."""
        with contextlib.suppress(OSError):
            self._pipe.close()
