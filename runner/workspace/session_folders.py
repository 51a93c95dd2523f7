"""The two folders of a session, which are removed at its end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from runner.inputs.job_inputs import Inputs


class Folders(Struct, frozen=True):
    """The folders that one session uses while it lasts."""

    scratch: Path
    """The witness's folder: its store, the engine's home."""
    checkout: Path
    """The agent's working tree."""


@contextmanager
def fresh_folders(inputs: Inputs) -> Iterator[Folders]:
    """Make both folders, empty, and remove them at the end.

    Raises:
        OSError: they cannot be made.
    """
    with _fresh(inputs.temp) as scratch, _fresh(inputs.workspace) as checkout:
        yield Folders(Path(scratch), Path(checkout))


def _fresh(parent: Path) -> TemporaryDirectory[str]:
    parent.mkdir(parents=True, exist_ok=True)
    # Files that an agent made unremovable stay; the machine is for one job, or swept.
    return TemporaryDirectory(prefix="brat-", dir=parent, ignore_cleanup_errors=True)
