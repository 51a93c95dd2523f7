"""What a CI job of the local forge waits for its files, in a large repository."""

import time
from pathlib import Path
from typing import Final

from benchmarks.bare_loop import call
from brat.forge.service.ci_checkout import checkout, keep_tree, take_kept
from brat.forge.storage.git_storage import Bare
from grite import git

FILES: Final = 50_000
FOLDER: Final = 100
"""How many files lie in a folder."""


def checkout_cost(folder: Path, repeats: int) -> dict[str, object]:
    """Check out commits that differ in a file: the first anew, the rest from it."""
    bare, commits = _repository(folder, repeats + 1)
    job, kept, took = folder / "job", folder / "kept", []
    for commit in commits:
        begun = time.perf_counter()
        take_kept(kept, job)
        checkout(bare, commit, job, None)
        took.append(time.perf_counter() - begun)
        keep_tree(kept, job, most=1)
    anew_s, *again = took
    kept_s = sorted(again)[repeats // 2]
    return {
        "files": FILES,
        "anew_s": round(anew_s, 2),
        "kept_s": round(kept_s, 2),
        "ratio": round(kept_s / anew_s, 3),
        "ratio_aim": 0.2,
    }


def _repository(folder: Path, commits: int) -> tuple[Bare, list[str]]:
    """Make a repository, and commits in each of which a file is another."""
    place = folder / "large.git"
    call("git", "init", "-q", "--bare", str(place), cwd=folder)
    lines = []
    for number in range(commits):
        lines += [
            "commit refs/heads/main",
            "committer a <a@example.invalid> 0 +0000",
            "data 1\nx",
        ]
        for each in range(FILES if number == 0 else 1):
            text = f"number = {number * FILES + each}\n" * 20
            name = f"part{each // FOLDER}/file{each}.py"
            lines.append(f"M 644 inline {name}\ndata {len(text)}\n{text}")
    git.run(["fast-import", "--quiet"], cwd=place, stdin="\n".join(lines).encode())
    listed = git.run(["log", "--format=%H", "main"], cwd=place).stdout.decode()
    return Bare(place), listed.split()
