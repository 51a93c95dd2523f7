"""The results of runs as a table in docs/mutants.md."""

import re
from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import ROOT, Verdict, entries

PAGE: Final = ROOT / "docs/mutants.md"
BEGIN: Final = "<!-- written by `make mutants ARGS=--write` -->\n"
SURVIVED: Final = "**nothing**"


def killers() -> dict[tuple[str, str], str]:
    """Return by file and by what it breaks which test killed a mutant the last time."""
    rows = re.findall(
        r"^\| (.*) \| `(.*)` \| `(.*)` \|$", PAGE.read_text(), re.MULTILINE
    )
    return {(file, breaks): killer for breaks, file, killer in rows}


def with_list(page: str, verdicts: Sequence[Verdict] = ()) -> str:
    """Return the page with its table as the written list has it now.

    What was not tried keeps the row that it has.
    """
    head, _, before = page.partition(BEGIN)
    rows = {
        row.rpartition(" | ")[0]: row
        for row in before.splitlines(keepends=True)
        if row.startswith("| ")
    }
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
    return f"{head}{BEGIN}\n{count}\n\n{table}"


def _quoted(text: str) -> str:
    return text.replace("|", "\\|")
