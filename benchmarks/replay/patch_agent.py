"""Stands where an agent would: makes one change of a history in its checkout.

At first it knows its own change only, as an agent does: where the lines it changed are
there, they become what the change made of them; where others have changed the same
lines, it adds its own to them, or, if it did not only add, puts its own in their place.
From the second attempt on, what does not merge becomes what it was in the history after
the same changes: those that it stands on, and its own.

A program of its own that imports nothing of ours: `patch_agent.py PLAN`, with the plan
that `benchmarks.replay.convoy_run` writes, and the task in `BRAT_TASK`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

TITLE = "Apply change"
"""What each task is called, before its number."""
OURS, BASE, MIDDLE, THEIRS = (mark * 60 for mark in "<|=>")
"""Marks too long to be a line of somebody's file."""
Content = tuple[str, bytes] | None
"""A file's mode and bytes; None: it is not there."""


def git(folder: str | Path, *args: str, check: bool = True) -> bytes:
    """Return what a git command printed."""
    done = subprocess.run(
        ["git", *args], cwd=folder, capture_output=True, check=False, timeout=120
    )
    if check and done.returncode != 0:
        raise SystemExit(f"git {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout


def content(repository: str | Path, commit: str, name: str) -> Content:
    """Return a file as it is in a commit."""
    said = git(repository, "ls-tree", "-z", commit, "--", f":(literal,top){name}")
    if not said:
        return None
    mode, kind, blob = said.split(b"\t")[0].decode().split()
    if kind != "blob":
        return None
    return mode, git(repository, "cat-file", "blob", blob)


def changed(repository: str | Path, base: str, commit: str) -> list[str]:
    """Return the files that a change touches."""
    said = git(repository, "diff", "--no-renames", "--name-only", "-z", base, commit)
    return [os.fsdecode(each) for each in said.split(b"\0") if each]


def merge(ours: Content, base: Content, theirs: Content) -> tuple[Content, bool]:
    """Bring a change from `base` to `theirs` into `ours`; and say if it was clean."""
    if ours in (base, theirs):
        return theirs, True
    if theirs == base:
        return ours, True
    if ours is None or theirs is None:
        return theirs, False
    old = base[1] if base else b""
    if any(b"\0" in each for each in (ours[1], old, theirs[1])):
        return theirs, False
    text, clean = _lines_merged(ours[1], old, theirs[1])
    return (theirs[0], text), clean


def _lines_merged(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, bool]:
    with tempfile.TemporaryDirectory(prefix="patch-agent-") as folder:
        names = [str(Path(folder, name)) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            Path(name).write_bytes(data)
        how = ("merge-file", "-p", "--diff3", f"--marker-size={len(OURS)}")
        said = git(folder, *how, *names, check=False)
    lines = said.splitlines(keepends=True)
    return b"".join(_settled(iter(lines))), OURS.encode() not in said


def _settled(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Give the merged lines, each conflict settled as this agent would."""
    sides: dict[str, list[bytes]] = {}
    side = ""
    for line in lines:
        mark = line[: len(OURS)].decode(errors="replace")
        if mark == OURS:
            sides, side = {OURS: [], BASE: [], MIDDLE: []}, OURS
        elif side and mark in (BASE, MIDDLE):
            side = mark
        elif side and mark == THEIRS:
            yield from _chosen(sides[OURS], sides[BASE], sides[MIDDLE])
            side = ""
        elif side:
            sides[side].append(line)
        else:
            yield line


def _chosen(
    ours: Sequence[bytes], base: Sequence[bytes], theirs: Sequence[bytes]
) -> list[bytes]:
    codes = SequenceMatcher(None, base, theirs, autojunk=False).get_opcodes()
    if all(code in {"equal", "insert"} for code, *_ in codes):
        added = (theirs[j:k] for code, _, _, j, k in codes if code == "insert")
        return [*ours, *(line for lines in added for line in lines)]
    return list(theirs)


def remembered(plan: dict[str, Any], name: str, wanted: set[int]) -> Content:
    """Return a file as the history made it by these changes alone."""
    repository = plan["repository"]
    now = content(repository, plan["start"], name)
    for number, (base, commit) in enumerate(plan["changes"], 1):
        if number in wanted:
            old, new = (content(repository, each, name) for each in (base, commit))
            now, _ = merge(now, old, new)
    return now


def landed(plan: dict[str, Any], name: str) -> set[int]:
    """Return the changes that the checkout's commit has.

    Where the checkout has no commits before its own, what CI noted of them is asked;
    where it noted nothing, those count whose new lines all stand in the file.
    """
    above = re.findall(rb"(?m)^parent (.+)$", git(".", "cat-file", "commit", "HEAD"))
    commits = git(".", "rev-list", "HEAD").decode().split()
    commits += [each.decode() for each in above]
    if plan["start"] in commits:
        said = git(".", "log", "--format=%B", f"{plan['start']}..HEAD")
        return numbers(said.decode(errors="replace"))
    judged = Path(plan["judged"])
    lines = judged.read_text("utf-8").splitlines() if judged.exists() else []
    known = {told["commit"]: set(told["has"]) for told in map(json.loads, lines)}
    for commit in commits:
        if commit in known:
            return known[commit]
    there = {*_lines(content(".", "HEAD", name))}
    return {number for number, new in _added(plan, name) if new <= there}


def _added(plan: dict[str, Any], name: str) -> Iterator[tuple[int, set[bytes]]]:
    """Give the changes that add lines to a file, each with these lines."""
    for number, (base, commit) in enumerate(plan["changes"], 1):
        old, new = (content(plan["repository"], at, name) for at in (base, commit))
        if lines := {*_lines(new)} - {*_lines(old)}:
            yield number, lines


def _lines(found: Content) -> list[bytes]:
    return found[1].splitlines() if found else []


def numbers(said: str) -> set[int]:
    """Return the changes that commit messages name."""
    return {int(found) for found in re.findall(rf"{TITLE} (\d+)\b", said)}


def apply(plan: dict[str, Any], number: int, attempt: int) -> list[str]:
    """Make the change in the checkout; return the files that did not merge."""
    base, commit = plan["changes"][number - 1]
    repository, rough = plan["repository"], []
    for name in changed(repository, base, commit):
        old, new = (content(repository, each, name) for each in (base, commit))
        found, clean = merge(content(".", "HEAD", name), old, new)
        if not clean:
            rough.append(name)
            if attempt > 1:
                found = remembered(plan, name, landed(plan, name) | {number})
        _write(Path(name), found)
    return rough


def _write(file: Path, found: Content) -> None:
    file.unlink(missing_ok=True)
    if found is None:
        return
    mode, data = found
    file.parent.mkdir(parents=True, exist_ok=True)
    if mode == "120000":
        file.symlink_to(os.fsdecode(data))
        return
    file.write_bytes(data)
    file.chmod(0o755 if mode == "100755" else 0o644)


def main() -> None:
    """Do the task that the environment names."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    number = int(os.environ["BRAT_TASK"])
    attempt = int(os.environ.get("BRAT_ATTEMPT", "1"))
    begun = time.time()
    time.sleep(plan["seconds"])
    rough = apply(plan, number, attempt)
    done = {"task": number, "attempt": attempt, "rough": rough}
    if attempt > 1:
        # Agents are asked to name each file in which they left out lines of a side.
        names = changed(plan["repository"], *plan["changes"][number - 1])
        print(f"BRAT: done {', '.join(names)}: kept what the history kept")
    told = json.dumps({**done, "begun": begun, "ended": time.time()})
    with Path(plan["sessions"]).open("a", encoding="utf-8") as record:
        record.write(f"{told}\n")


if __name__ == "__main__":
    main()
