"""Writes to a program's standard input while it runs, without ever waiting for it."""

import contextlib
import os
from typing import IO, Protocol

CHUNK_BYTES = 65_536


class InputSource(Protocol):
    """The source of the bytes."""

    def next(self) -> bytes | None:
        """Return the next bytes; empty: none yet; None: the end.

        It is called again only when all bytes it returned before have been written.
        """


class StdinWriter:
    """Writes as much as the program reads."""

    def __init__(self, pipe: IO[bytes], source: InputSource) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._source = source
        self._unsaid = b""

    def fileno(self) -> int:
        """Return the descriptor that becomes writable when more fits."""
        return self._pipe.fileno()

    def turn(self) -> bool:
        """Write what fits; return whether more has to wait for the program to read."""
        while not self._pipe.closed:
            if not self._unsaid:
                said = self._source.next()
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
            except OSError:  # the program no longer reads
                self.close()
                return False
            self._unsaid = self._unsaid[count:]
        return False

    def close(self) -> None:
        """Close the program's input; safe to call twice."""
        with contextlib.suppress(OSError):
            self._pipe.close()
