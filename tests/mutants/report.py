"""The result of a run as tables in docs/mutants.md."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import ROOT, Verdict

PAGE: Final = ROOT / "docs/mutants.md"
BEGIN: Final = "<!-- written by `make mutants ARGS=--write` -->\n"


def write(known: Sequence[Verdict], random: Sequence[Verdict], seed: int) -> None:
    """Put the verdicts on the written list and on a draw at the end of the page."""
    head, begin, _ = PAGE.read_text().partition(BEGIN)
    if not begin:
        raise ValueError(f"{PAGE} lacks the line {BEGIN}")
    parts = [_listed(known)]
    if random:
        parts.append(_drawn(random, seed))
    PAGE.write_text(head + begin + "\n" + "\n".join(parts))


def _listed(verdicts: Sequence[Verdict]) -> str:
    rows = [
        f"| {v.mutant.breaks} | `{v.mutant.file}` | {_how(v)} |\n" for v in verdicts
    ]
    head = "| broken so that | in | noticed by |\n|---|---|---|\n"
    return f"### The written list\n\n{_count(verdicts)}\n\n{head}{''.join(rows)}"


def _drawn(verdicts: Sequence[Verdict], seed: int) -> str:
    rows = [
        f"| `{v.mutant.file}` | {_quoted(v.mutant.breaks)} |\n"
        for v in verdicts
        if not v.killer
    ]
    head = "| survivor in | change |\n|---|---|\n"
    title = f"### A draw with seed {seed}"
    return f"{title}\n\n{_count(verdicts)}\n\n{head}{''.join(rows)}"


def _count(verdicts: Sequence[Verdict]) -> str:
    killed = sum(bool(verdict.killer) for verdict in verdicts)
    return f"{killed} of {len(verdicts)} were killed."


def _how(verdict: Verdict) -> str:
    return f"`{_quoted(verdict.killer)}`" if verdict.killer else "**nothing**"


def _quoted(text: str) -> str:
    return text.replace("|", "\\|")
