"""The commit that a plan's tasks start from, and how its files refer to each other."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from convoy.model.records import TaskSpec
from convoy.planner.imports import Project, go_module, imported, is_read

READ: Final = 500
"""The most files read for one plan."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A commit; at most READ of its files are read, each once."""

    files: tuple[str, ...]
    """Every path."""
    text: Callable[[str], str] = lambda _path: ""
    """Gives the text of one of them; empty: it is not text, or too long."""
    _texts: dict[str, str] = field(default_factory=dict)
    _links: dict[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def known(self) -> frozenset[str]:
        """Every file, and every folder, with a slash at its end."""
        found = {*self.files}
        for file in self.files:
            end = file.rfind("/") + 1
            while end and file[:end] not in found:
                found.add(file[:end])
                end = file.rfind("/", 0, end - 1) + 1
        return frozenset(found)

    def has(self, path: str) -> bool:
        """Whether there is such a file, or folder, with a slash or without."""
        return path in self.known or f"{path}/" in self.known

    def declared(self, task: TaskSpec) -> list[str]:
        """Return the existing files that a task names, without those in its folders."""
        return [p for p in task.paths if p in self.known and not p.endswith("/")]

    def within(self, task: TaskSpec) -> list[str]:
        """Return the existing files that a task names, or that lie in its folders."""
        exact = self.declared(task)
        folders = tuple(f"{p.rstrip('/')}/" for p in task.paths if p not in exact)
        inside = (file for file in self.files if file.startswith(folders))
        return [*dict.fromkeys((*exact, *(inside if folders else ())))][:READ]

    def read(self, file: str) -> str:
        """Return a file's text; empty once READ files were read."""
        if file not in self._texts and len(self._texts) < READ:
            self._texts[file] = self.text(file)
        return self._texts.get(file, "")

    def imports(self, file: str) -> frozenset[str]:
        """Return what a file imports from the repository."""
        if not is_read(file):
            return frozenset()
        if file not in self._links:
            self._links[file] = imported(file, self.read(file), self._project)
        return self._links[file]

    @cached_property
    def _project(self) -> Project:
        module = self.read("go.mod") if "go.mod" in self.known else ""
        return Project(frozenset(self.files), go_module(module))
