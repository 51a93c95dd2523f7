"""Break the rules on purpose and see whether the tests notice: docs/mutants.md."""

import argparse
import os
import sys
from collections.abc import Sequence

from tests.mutants.mutant import Stale, Verdict, entries, placed
from tests.mutants.report import PAGE, with_list
from tests.mutants.trial import Unsound, judged


def main(arguments: Sequence[str]) -> int:
    """Run the written list; return 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="a part of a file or of a sentence")
    parser.add_argument("--write", action="store_true", help="into docs/mutants.md")
    asked = parser.parse_args(arguments)
    try:
        mutants = [
            m for m in map(placed, entries()) if asked.only in f"{m.file} {m.breaks}"
        ]
        verdicts: list[Verdict] = []
        for verdict in judged(mutants, asked.jobs):
            verdicts.append(verdict)
            _say(verdict)
    except (Stale, Unsound) as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    killed = sum(bool(verdict.killer) for verdict in verdicts)
    sys.stdout.write(f"{killed} of {len(verdicts)} mutants killed\n")
    if asked.write:
        PAGE.write_text(with_list(PAGE.read_text(), verdicts))
    return 0 if killed == len(verdicts) else 1


def _say(verdict: Verdict) -> None:
    mutant = verdict.mutant
    how = f"killed by {verdict.killer}" if verdict.killer else "SURVIVED"
    sys.stdout.write(f"{mutant.file}: {mutant.breaks}: {how}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
