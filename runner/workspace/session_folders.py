"""The two folders of a session, which are removed at its end."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from grite import trusted_programs
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


@contextmanager
def _fresh(parent: Path) -> Iterator[str]:
    parent.mkdir(parents=True, exist_ok=True)
    # Files that an agent made unremovable stay; the machine is for one job, or swept.
    made = TemporaryDirectory(prefix="brat-", dir=parent, ignore_cleanup_errors=True)
    try:
        yield made.name
    finally:
        try:
            made.cleanup()
        except RecursionError:  # Python gives up at a thousand folders in one another
            argv = (trusted_programs.found("rm"), "-rf", "--", made.name)
            subprocess.run(argv, check=False, stderr=subprocess.DEVNULL)
