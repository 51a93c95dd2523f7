"""The results of runs as tables in docs/mutants.md."""

import re
from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import ROOT, Verdict, entries

PAGE: Final = ROOT / "docs/mutants.md"
BEGIN: Final = "<!-- written by `make mutants ARGS=--write` -->\n"
LISTED: Final = "### The written list"
DRAWN: Final = "### A draw"
SURVIVED: Final = "**nothing**"


def killers() -> dict[tuple[str, str], str]:
    """Return by file and by what it breaks which test killed a mutant the last time."""
    rows = re.findall(
        r"^\| (.*) \| `(.*)` \| `(.*)` \|$", PAGE.read_text(), re.MULTILINE
    )
    return {(file, breaks): killer for breaks, file, killer in rows}


def write(known: Sequence[Verdict], random: Sequence[Verdict], seed: int) -> None:
    """Put the verdicts on the written list and on a draw at the end of the page.

    What was not tried keeps the row, and without a draw the section, it has.
    """
    page = with_list(PAGE.read_text(), known)
    if random:
        page = page.partition(DRAWN)[0] + _drawn(random, seed)
    PAGE.write_text(page)


def with_list(page: str, verdicts: Sequence[Verdict] = ()) -> str:
    """Return the page with its table as the written list has it now."""
    head, _, tail = page.partition(BEGIN)
    before, heading, draw = tail.partition(DRAWN)
    listed = _listed(verdicts, before.splitlines(keepends=True))
    return "\n".join(filter(None, (head + BEGIN, listed, heading + draw)))


def _listed(verdicts: Sequence[Verdict], before: Sequence[str]) -> str:
    rows = {row.rpartition(" | ")[0]: row for row in before if row.startswith("| ")}
    for verdict in verdicts:
        mutant = verdict.mutant
        start = f"| {mutant.breaks} | `{mutant.file}`"
        killer = f"`{_quoted(verdict.killer)}`" if verdict.killer else SURVIVED
        rows[start] = f"{start} | {killer} |\n"
    starts = [f"| {entry['breaks']} | `{entry['file']}`" for entry in entries()]
    tried = [rows[start] for start in starts if start in rows]
    killed = sum(SURVIVED not in row for row in tried)
    untried = len(starts) - len(tried)
    more = f" {untried} more are listed and were not tried yet." if untried else ""
    count = f"{killed} of {len(tried)} were killed.{more}"
    table = "| broken so that | in | noticed by |\n|---|---|---|\n" + "".join(tried)
    return f"{LISTED}\n\n{count}\n\n{table}"


def _drawn(verdicts: Sequence[Verdict], seed: int) -> str:
    survived = [verdict.mutant for verdict in verdicts if not verdict.killer]
    rows = [f"| `{each.file}` | {_quoted(each.breaks)} |\n" for each in survived]
    killed = len(verdicts) - len(survived)
    count = f"{killed} of {len(verdicts)} were killed; the others:"
    table = "| in | change |\n|---|---|\n" + "".join(rows)
    return f"{DRAWN} with seed {seed}\n\n{count}\n\n{table}"


def _quoted(text: str) -> str:
    return text.replace("|", "\\|")
