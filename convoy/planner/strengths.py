"""What each engine is good at: as configured, as known of its kind, as the log tells.

Pure: for the planner, which gives every task an engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from convoy.events import EngineSpec, TaskSpec
from convoy.state import State, Task

KNOWN: Final = {
    "claude-code": "architecture, complex refactoring",
    "aider": "mechanical edits such as tests, with many models",
    "opencode": "work with whichever of many vendors' models is set",
    "codex": "documents and code, with OpenAI's models",
    "continue": "what is near to an editor's own changes",
    "gemini": "work with Google's models and services",
    "copilot": "what has to do with GitHub: workflows, issues, pull requests",
}
"""By type, where `good_at` is not configured; the README's table of engines says so."""

_TESTS: Final = ("test/", "tests/", "spec/", "__tests__/")
_WORDS: Final = (".md", ".rst", ".txt", ".adoc")


@dataclass
class Record:
    """What became of the tasks of one kind that such an engine worked on."""

    tasks: int = 0
    first: int = 0
    """Merged by their first attempt."""
    worked: list[int] = field(default_factory=list)
    """Milliseconds, an entry a task."""
    usd: list[float] = field(default_factory=list)
    """Of those whose price is known."""

    def add(self, task: Task) -> None:
        """Count one more task that has settled."""
        self.tasks += 1
        self.first += task.state == "merged" and task.started == 1
        self.worked.append(task.worked_ms)
        if task.used.usd > 0 and not task.used.unpriced_tokens:
            self.usd.append(task.used.usd)

    def __str__(self) -> str:
        """Say it in a few words."""
        minutes = sum(self.worked) / len(self.worked) / 60_000
        said = (
            f"{self.first} of {self.tasks} merged at the first try, {minutes:.1f} min"
        )
        cost = f", ${sum(self.usd) / len(self.usd):.2f}" if self.usd else ""
        return f"{said}{cost} a task"


def kind_of(task: TaskSpec) -> str:
    """Return what a task is about, by its paths: `tests`, `docs` or `code`."""
    if task.paths and all(_is_test(path) for path in task.paths):
        return "tests"
    if task.paths and all(_is_text(path) for path in task.paths):
        return "docs"
    return "code"


def records(state: State, engine: EngineSpec) -> dict[str, Record]:
    """Return by kind of task what became of work by engines of its type and model."""
    found: dict[str, Record] = {}
    for convoy in state.convoys.values():
        for task in convoy.tasks:
            spec = convoy.settings.engines.get(task.spec.engine)
            is_same = spec and (spec.type, spec.model) == (engine.type, engine.model)
            if is_same and task.settled and task.started:
                found.setdefault(kind_of(task.spec), Record()).add(task)
    return dict(sorted(found.items()))


def strengths(state: State, engines: Mapping[str, EngineSpec]) -> Iterator[str]:
    """Give a line for each engine, by name."""
    for name, engine in sorted(engines.items()):
        yield f"`{name}` {strength(state, engine)}"


def strength(state: State, engine: EngineSpec) -> str:
    """Return what an engine is, is good at, and has done."""
    model = f", {engine.model}" if engine.model else ""
    good = engine.good_at or KNOWN.get(engine.type, "")
    at = f": good at {good.rstrip('.')}." if good else "."
    past = "; ".join(f"{k}: {r}" for k, r in records(state, engine).items())
    so_far = f" So far: {past}." if past else ""
    return f"({engine.type}{model}){at}{so_far}"


def _is_test(path: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    is_named = name.startswith("test_") or ".test." in name or "_test." in name
    return is_named or any(f"/{part}" in f"/{path}" for part in _TESTS)


def _is_text(path: str) -> bool:
    return path.endswith(_WORDS) or path.startswith(("docs/", "doc/"))
