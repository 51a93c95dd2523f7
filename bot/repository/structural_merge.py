"""Programs that merge code by its structure, for files that git leaves in conflict.

Each is one row. git starts it as it starts any merge driver, in a folder of its own,
until a deadline; what it cannot merge either stays in conflict.
https://git-scm.com/docs/gitattributes#_defining_a_custom_merge_driver
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

DEADLINE_S: Final = 30.0
"""For all files of one merge; what takes longer is left in conflict."""
ATTRIBUTES: Final = "structural"
"""The file in a merge's folder that names what the program is to merge."""
_SAFE: Final = re.compile(r"[\w./+@,=: -]+", re.ASCII)
"""Paths that are patterns for themselves alone, between quotes."""


class Structural(Struct, frozen=True):
    """A program that merges by structure."""

    program: str
    driver: str
    """Its command line as a merge driver of git's."""
    install: str
    """How to get it."""


STRUCTURAL: Final = {
    "mergiraf": Structural(
        program="mergiraf",
        # 0.20.0 may end with 0 and leave markers, after a last line without its end.
        driver="mergiraf merge --git %O %A %B -p %P -l %L && ! grep -q '<<<<<<< ' %A",
        install="cargo install --locked mergiraf",
    )
}


def options(name: str, folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the options that make git merge some files by structure.

    Args:
        name: a key of `STRUCTURAL`.
        folder: the merge's own.
        paths: the files that conflict.
    """
    safe = (path for path in paths if _SAFE.fullmatch(path))
    file = folder / ATTRIBUTES
    file.write_text("".join(f'"/{path}" merge={name}\n' for path in safe))
    driver = f"merge.{name}.driver={STRUCTURAL[name].driver}"
    return ("-c", f"core.attributesFile={file}", "-c", driver)
