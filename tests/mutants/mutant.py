"""A mutant: one small change of a rule that the tests must notice."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LIST: Final = Path(__file__).with_name("listed.toml")


class Stale(Exception):
    """A listed text is not where it was, or not alone; the message says which."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old`, which stands at character `at` of `file`, becomes `new`."""

    file: str
    at: int
    old: str
    new: str
    breaks: str
    """What would go wrong."""

    def applied(self, source: str) -> str:
        """Return the file's text with the change."""
        return source[: self.at] + self.new + source[self.at + len(self.old) :]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the tests said to a mutant."""

    mutant: Mutant
    killer: str
    """The test that failed first; empty: it survived."""


Entry = dict[str, str]
"""A mutant as it is written: `file`, `old`, `new` and `breaks`."""


def entries() -> tuple[Entry, ...]:
    """Read the written list, which has a table of mutants for each file."""
    listed = tomllib.loads(LIST.read_text())
    return tuple(
        {"file": file, "old": old, "new": new, "breaks": breaks}
        for file, rows in listed.items()
        for breaks, (old, new) in rows.items()
    )


def placed(entry: Entry) -> Mutant:
    """Find where a mutant changes its file.

    Raises `Stale`: the old text does not occur exactly once there.
    """
    source = (ROOT / entry["file"]).read_text()
    count = source.count(entry["old"])
    if count != 1:
        raise Stale(
            f"{entry['file']} holds this {count} times, and once is needed: write the "
            f"mutant anew in {LIST.relative_to(ROOT)}:\n{entry['old']}"
        )
    return Mutant(at=source.index(entry["old"]), **entry)
