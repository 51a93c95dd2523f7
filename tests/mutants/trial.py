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
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.mutants.mutant import ROOT, Mutant, Verdict

NEEDED: Final = (
    *("grite", "convoy", "bot", "brat", "runner", "tests", "docs", "examples"),
    *("workflows", "pyproject.toml", "README.md"),
)
"""What the tests of the rules read, with all that they import."""
RULES: Final = (
    *("approvals", "decide", "edits", "given_up", "holds", "interventions"),
    *("landing", "leases", "observed", "plan", "queue", "reasons", "record", "fold"),
    *("second_line", "rivals", "splits", "given"),
)
"""The quick tests of the rules in tests/convoy, by what they are about."""
OWN: Final = {
    "bot/roles": ("tests/bot/repository/test_draft.py",),
    "convoy/planner": ("tests/convoy/planner",),
    "convoy/patterns": ("tests/convoy/patterns",),
    "convoy/gate": ("tests/convoy/test_gate.py",),
    "convoy/model": ("tests/convoy/test_graph.py",),
    "grite": ("tests/grite/test_lease.py", "tests/grite/test_resource.py"),
}
"""The tests that know the most of a room, where those are not the quick ones."""
LANDING: Final = "tests/convoy"
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

    def judge(self, mutant: Mutant) -> Verdict:
        """Return which of the tests that should kill a mutant does."""
        with self._holding(mutant):
            killer = next(filter(None, map(self._killer, self.stages(mutant))), "")
        return Verdict(mutant, killer)

    def sound(self, mutants: Iterable[Mutant]) -> None:
        """Check that the tests pass without a mutant.

        Raises:
            Unsound: one does not.
        """
        found = itertools.chain.from_iterable(map(self.stages, mutants))
        for tests in sorted({tuple(stage) for stage in found}):
            if killer := self._killer(tests):
                raise Unsound(f"{killer} fails without a mutant: mend it first")

    @staticmethod
    def stages(mutant: Mutant) -> list[Sequence[str]]:
        """Return the tests that should kill a mutant; slow ones run if none does."""
        quick = [f"tests/convoy/test_{name}.py" for name in RULES]
        room = next((own for own in OWN if mutant.file.startswith(f"{own}/")), "")
        return [OWN.get(room, quick), [LANDING, f"--ignore={MACHINE}"], [MACHINE]]

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


def judged(mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """Give the verdicts in order, some at a time.

    Raises:
        Unsound: the tests do not pass without a mutant, or do not run.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        copies = [Copy(Path(folder, str(number))) for number in range(jobs)]
        copies[0].sound(mutants)
        for copy in copies:
            free.put(copy)

        def judge(mutant: Mutant) -> Verdict:
            copy = free.get()
            try:
                return copy.judge(mutant)
            finally:
                free.put(copy)

        yield from pool.map(judge, mutants)
