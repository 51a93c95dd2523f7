"""Mutants before the tests: each in a copy of the tree, never in the checkout."""

import itertools
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from tests.mutants.mutant import ROOT, Mutant, Verdict
from tests.mutants.report import killers

NEEDED: Final = (
    *("grite", "convoy", "bot", "brat", "runner", "tests", "docs", "examples"),
    *("workflows", "pyproject.toml", "README.md"),
)
"""What the tests of the rules read, with all that they import."""
ROOMS: Final = ("tests/convoy", "tests/grite", "tests/bot/repository")
MACHINE: Final = "tests/convoy/test_machine.py"
LONGEST_S: Final = 400
"""A mutant may run for ever: then it is noticed, too."""
NO_TESTS_RAN: Final = (3, 4, 5)
"""How pytest ends when the fault is not the mutant's."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (?:\S+::)?(\S+)", re.MULTILINE)


class Unsound(Exception):
    """The run says nothing about the mutants; the message says why."""


class Copy:
    """A copy of the tree in which one mutant at a time lives."""

    _written = itertools.count(1)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        unread = shutil.ignore_patterns("__pycache__", ".*")
        for name in NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=unread)
            else:
                (folder / name).parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, folder / name)

    def judge(self, mutant: Mutant, tests: Sequence[str]) -> Verdict:
        with self._holding(mutant):
            return Verdict(mutant, self._killer(tests))

    def sound(self, tests: Sequence[str]) -> None:
        """Check that the tests pass without a mutant.

        Raises `Unsound`: one does not.
        """
        if killer := self._killer(tests):
            raise Unsound(f"{killer} fails without a mutant: mend it first")

    @contextmanager
    def _holding(self, mutant: Mutant) -> Iterator[None]:
        file = self._folder / mutant.file
        source = file.read_text()
        self._write(file, mutant.applied(source))
        try:
            yield
        finally:
            self._write(file, source)

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text)
        # Python tells compiled files apart by whole seconds and by size.
        then = time.time() - 1_000_000 + 2 * next(self._written)
        os.utime(file, (then, then))

    def _killer(self, tests: Sequence[str]) -> str:
        """Run tests until one fails; return its name, or nothing."""
        options = ("-x", "-q", "-p", "no:cacheprovider", "--layer=landing")
        profile = "--hypothesis-profile=mutants"
        command = [sys.executable, "-m", "pytest", *options, profile, *tests]
        try:
            ran = subprocess.run(
                command,
                cwd=self._folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return f"more than {LONGEST_S} s"
        if ran.returncode == 0:
            return ""
        if ran.returncode in NO_TESTS_RAN:
            raise Unsound(f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}")
        found = _FAILED.search(ran.stdout)
        return found[1] if found else "not named"


@cache
def _tests() -> str:
    """Return each test that may kill, as `FILE::NAME`, a line each."""
    files = (
        file for room in ROOMS for file in sorted((ROOT / room).rglob("test_*.py"))
    )
    found = (
        f"{file.relative_to(ROOT)}::{name}"
        for file in files
        for name in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)
    )
    return "\n".join(found)


def _that_killed(mutant: Mutant) -> list[str]:
    """Return the test that killed it the last time; nothing if that is gone."""
    name = killers().get((mutant.file, mutant.breaks), "").partition("[")[0]
    return re.findall(rf"^.*::{name}$", _tests(), re.MULTILINE) if name else []


STAGES: Final[tuple[Callable[[Mutant], list[str]], ...]] = (
    _that_killed,
    lambda _: [*ROOMS, f"--ignore={MACHINE}"],
    lambda _: [MACHINE],
)
"""The tests that should kill a mutant; slow ones run if those before did not."""


def judged(mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """Give a verdict on each as it is reached, the survivors last.

    Raises `Unsound`: the tests do not pass without a mutant, or do not run.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        copies = [Copy(Path(folder, str(number))) for number in range(jobs)]
        for copy in copies:
            free.put(copy)

        def judge(mutant: Mutant, tests: Sequence[str]) -> Verdict:
            copy = free.get()
            try:
                return copy.judge(mutant, tests)
            finally:
                free.put(copy)

        alive = dict.fromkeys(mutants)
        for stage in STAGES:
            tried = {mutant: tests for mutant in alive if (tests := stage(mutant))}
            if tried:
                copies[0].sound(sorted(set(itertools.chain(*tried.values()))))
            for verdict in pool.map(judge, tried.keys(), tried.values()):
                if verdict.killer:
                    del alive[verdict.mutant]
                    yield verdict
        yield from (Verdict(mutant, "") for mutant in alive)
