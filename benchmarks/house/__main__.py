"""`python -m benchmarks.house [--beside DIR] [--sample N]`: measure this checkout."""

import argparse
import ast
import json
import random
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.house import concepts, imports
from benchmarks.house.tree import NAMELESS, Source, sources

LONG: Final = 300
SHORT: Final = 100
ALIKE: Final = 6
"""So many lines in a row, alike in two places, are a duplicate."""


def measured(top: Path) -> dict[str, float]:
    """Return every figure of the checkout at `top`."""
    files = sources(top)
    graph = imports.of_files(files)
    rooms = imports.circles(imports.of_rooms(graph))
    lengths = [source.lines for source in files if not source.is_sample]
    return {
        "product lines": sum(source.lines for source in files),
        "files": len(lengths),
        f"files over {LONG} lines": sum(length > LONG for length in lengths),
        f"files under {SHORT} lines, %": round(
            100 * sum(length < SHORT for length in lengths) / len(lengths)
        ),
        "lines in a file, median": statistics.median(lengths),
        "circles of files": len(imports.circles(graph)),
        "circles of rooms": len(rooms),
        "rooms in circles": sum(map(len, rooms)),
        "imports that climb": imports.climbing(graph),
        "file names in use twice": _twice(files),
        "duplicates": _duplicates(top, files),
        **concepts.naming(files),
    }


def _twice(files: list[Source]) -> int:
    names = Counter(Path(source.path).name for source in files if not source.is_sample)
    return sum(many > 1 for name, many in names.items() if name not in NAMELESS)


def _duplicates(top: Path, files: list[Source]) -> int:
    """Return how many runs of lines stand in several places, as pylint counts them."""
    program = Path(sys.executable).with_name("symilar")
    ignored = ("imports", "docstrings", "comments", "signatures")
    found = subprocess.run(
        [
            program,
            f"--duplicates={ALIKE}",
            *(f"--ignore-{each}" for each in ignored),
            *(source.path for source in files if not source.is_sample),
        ],
        cwd=top,
        check=True,
        capture_output=True,
        text=True,
    )
    return len(re.findall(r"^\d+ similar lines in", found.stdout, re.MULTILINE))


def _sentences(top: Path) -> Iterator[str]:
    """Give the sentences that people read: documents, docstrings, messages."""
    for source in sources(top):
        if source.is_sample:
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from _split(source.path, node.value)
    for page in (*top.glob("*.md"), *top.glob("docs/*.md")):
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        yield from _split(str(page.relative_to(top)), prose)


def _split(where: str, text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.:;])\s+|\n\s*\n", text):
        words = " ".join(sentence.split())
        if words.count(" ") >= 5 and words[0].isupper() and words.endswith("."):
            yield f"{where}: {words}"


def main() -> None:
    """Print the figures, or some sentences to be read."""
    parser = argparse.ArgumentParser(prog="benchmarks.house")
    parser.add_argument("--beside", type=Path, help="another checkout, before this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sample", type=int, help="print so many sentences, at random")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.sample:
        all_of_them = sorted(set(_sentences(Path())))
        drawn = random.Random(given.seed).sample(all_of_them, given.sample)  # noqa: S311  no secret
        print("\n".join(drawn))
        return
    now = measured(Path())
    before = measured(given.beside) if given.beside else {}
    if given.json:
        print(json.dumps({"now": now, "before": before}))
        return
    for circle in imports.circles(imports.of_rooms(imports.of_files(sources(Path())))):
        print("circle:", ", ".join(circle))
    for name, figure in now.items():
        was = f"{before[name]:>10g}" if before else ""
        print(f"{name:<28}{was}{figure:>10g}")


if __name__ == "__main__":
    main()
