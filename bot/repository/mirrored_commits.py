"""Reads commits of the clone: their files, changes, patterns and surveys.

Blocking. Missing commits are fetched first.
"""

from collections.abc import Callable
from typing import Final

from bot.repository.collision_forecast import foreseen
from bot.repository.mirror import Mirror
from bot.repository.recent_changes import lately
from bot.repository.repository_survey import files_at, surveyed, text_at
from bot.repository.templates import template_at
from convoy.model.records import Overlap, Scope, TaskSpec
from convoy.patterns import Template
from convoy.planner import Survey
from convoy.planner.ground import Ground, absent_paths, scopes
from convoy.planner.issue_text import box_labels, form_files
from grite import git
from grite.errors import GitFailed, Unavailable

LANDED_MOST: Final = 20
"""The most landed commits that a conflict is explained by."""
ABSENT_MOST: Final = 10
"""The most paths that are said not to exist."""


class MirroredCommits:
    """Reads the commits of a mirror."""

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror

    def files(self, commit: str) -> tuple[str, ...]:
        """Return every path of a commit, in git's order."""
        return files_at(self.mirror.path, commit)

    def text(self, commit: str) -> Callable[[str], str]:
        """Return a reader of files' texts at a commit; large files read as empty."""
        return text_at(self.mirror.path, commit)

    def diff(
        self, base: str, commit: str, room: int, paths: tuple[str, ...] = ()
    ) -> str:
        """Return the difference between two commits as a patch, cut to `room` + 1.

        A patch longer than `room` characters was cut. `paths` are the only files shown;
        empty: all.
        """
        self.mirror.ensure([base, commit])
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch")
        found = git.run(
            ["--literal-pathspecs", "diff", *options, base, commit, "--", *paths],
            cwd=self.mirror.path,
        )
        return found.stdout[: 4 * room].decode(errors="replace")[: room + 1]

    def landed(self, base: str, tip: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the newest commits of `base..tip` that touch one of the paths."""
        self.mirror.ensure([base, tip])
        line = ["--literal-pathspecs", "rev-list", f"--max-count={LANDED_MOST}"]
        line += ["--no-merges", tip, f"^{base}", "--", *paths]
        found = git.run(line, cwd=self.mirror.path)
        return tuple(found.stdout.decode().split())

    def subject(self, commit: str) -> str:
        """Return the first line of a commit's message."""
        line = ("show", "--no-patch", "--format=%s", commit)
        return git.run(line, cwd=self.mirror.path).stdout.decode(errors="replace")

    def lines(self, base: str, commit: str) -> int:
        """Return how many lines a commit adds and removes."""
        self.mirror.ensure([base, commit])
        options = ("--no-ext-diff", "--no-textconv", "--numstat")
        found = git.run(["diff", *options, base, commit, "--"], cwd=self.mirror.path)
        rows = (row.split(b"\t")[:2] for row in found.stdout.splitlines())
        return sum(int(count) for row in rows for count in row if count.isdigit())

    def surveyed(self, commit: str) -> Survey:
        """Return a survey of the repository at a commit."""
        self.mirror.ensure([commit])
        return surveyed(self.mirror.path, commit)

    def template(self, commit: str, name: str) -> Template:
        """Return a pattern from a commit; see `template_at`."""
        self.mirror.ensure([commit])
        return template_at(self.mirror.path, commit, name)

    def box_labels(self, commit: str) -> frozenset[str]:
        """Return what the boxes of a commit's issue forms say."""
        self.mirror.ensure([commit])
        read = self.text(commit)
        return box_labels(map(read, form_files(self.files(commit))))

    def scopes(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Scope, ...]:
        """Return how much of a commit each of a plan's tasks is about.

        It only informs people: if git fails, the result is empty.
        """
        if not any(task.paths for task in tasks):
            return ()
        try:
            past = lately(self.mirror.path, commit)
        except (GitFailed, Unavailable) as error:
            said = f"How large the tasks are is not known: {error}"
            self.mirror.notices.append(said)
            return ()
        return scopes(tasks, Ground(files=self.files(commit)), past)

    def absent(self, commit: str, found: tuple[Scope, ...]) -> tuple[str, ...]:
        """Return remarks about declared paths that do not exist at a commit."""
        if not any(scope.creates for scope in found):
            return ()
        return tuple(absent_paths(found, Ground(files=self.files(commit))))[
            :ABSENT_MOST
        ]

    def foreseen(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Overlap, ...]:
        """Return which of a plan's tasks, started at a commit, may collide.

        This is a guess that no plan depends on: if git fails, the result is empty.
        """
        try:
            return foreseen(self.mirror.path, commit, tasks)
        except (GitFailed, Unavailable) as error:
            said = f"Which tasks may collide is not known: {error}"
            self.mirror.notices.append(said)
            return ()
