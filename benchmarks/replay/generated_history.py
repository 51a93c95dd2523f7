"""Histories that are made, for where there is no network and no time.

Their tests are lines `FILE WORD` below `checks/`: the word stands in the file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.bare_loop import call
from benchmarks.replay import history
from benchmarks.replay.history import History

CI: Final = (
    'cat checks/* | while read -r file word; do grep -q "$word" "$file" || '
    '{ echo "FAILED $file lacks $word"; exit 1; }; done'
)
Edit = dict[str, str]
"""The whole text of files after a change."""


def _lines(letter: str, **edited: str) -> str:
    found = (edited.get(f"line_{n}", f"{letter} {n}") for n in range(1, 21))
    return "\n".join(found) + "\n"


def mixed(folder: Path) -> History:
    """Make a history whose changes overlap in the ways that real ones do."""
    first = {"line_5": "a 5 and first"}
    third = {**first, "line_6": "a 6 and third"}
    return _made(
        folder,
        "mixed",
        [
            {"a.txt": _lines("a"), "b.txt": _lines("b"), "checks/0": "a.txt a\n"},
            {"a.txt": _lines("a", **first), "checks/1": "a.txt first\n"},
            {
                "b.txt": _lines("b", line_5="b 5 and second"),
                "checks/2": "b.txt second\n",
            },
            {"a.txt": _lines("a", **third), "checks/3": "a.txt third\n"},
            {"c.txt": _lines("c"), "checks/4": "c.txt c\n"},
            {"d.txt": _lines("d"), "checks/5": "c.txt 12\nd.txt d\n"},
            {
                "b.txt": _lines("b", line_5="b 5, second and sixth"),
                "checks/6": "b.txt sixth\n",
            },
            {
                "a.txt": _lines("a", **third, line_15="a 15 and seventh"),
                "checks/7": "a.txt seventh\n",
            },
            {"e.txt": _lines("e"), "checks/8": "e.txt e\nd.txt d\n"},
        ],
    )


def herd(folder: Path, size: int = 10) -> History:
    """Make a history in which every change adds a line to one and the same file."""
    told = ["# Changes\n"]
    edits: list[Edit] = [{"CHANGES.md": told[0], "checks/0": "CHANGES.md Changes\n"}]
    for number in range(1, size + 1):
        told.append(f"- change {number} of the herd.\n")
        check = f"CHANGES.md change.{number}.of\n"
        edits.append({"CHANGES.md": "".join(told), f"checks/{number}": check})
    return _made(folder, "herd", edits)


def apart(folder: Path, size: int = 12) -> History:
    """Make a history whose changes have nothing to do with each other."""
    edits = [
        {f"{n}.txt": f"change {n}\n", f"checks/{n}": f"{n}.txt change\n"}
        for n in range(size + 1)
    ]
    return _made(folder, "apart", edits)


def _made(folder: Path, name: str, edits: Sequence[Edit]) -> History:
    place = folder / name
    place.mkdir(parents=True)
    call("git", "init", "-q", "-b", "main", cwd=place)
    for number, edit in enumerate(edits):
        for file, text in edit.items():
            (place / file).parent.mkdir(exist_ok=True)
            (place / file).write_text(text, encoding="utf-8")
        call("git", "add", "--all", cwd=place)
        call("git", "commit", "-q", "-m", f"Change {number}", cwd=place)
    return history.read(name, place, CI, "main", len(edits) - 1)
