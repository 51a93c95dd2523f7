"""The commit that tasks start from: its files and what they import. Pure.

Line patterns find the import statements; for Python, `ast` reads them. A name counts
only if it is a file or folder of the repository, so an apparent statement in a string
or comment does little harm. docs/decisions/0024 says why there is no parser.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from convoy.model.records import Scope, TaskSpec

Groups = Iterable[tuple[str, ...]]
"""For each import, the paths where it may lie; the first that exists counts."""

ROOTS: Final = 20
"""Folders in which absolute names are looked up, the most used first."""

# No pattern runs over more than a line, or a bounded bracket: texts may be hostile.
_PYTHON: Final = re.compile(
    r"^[ \t]*((?:from[ \t]+[.\w]+[ \t]+import[ \t]*(?:\([^)]{0,2000}\)|[^(\n]+))|"
    r"(?:import[ \t]+\w[\w., \t]*))",
    re.MULTILINE,
)
_SCRIPT: Final = re.compile(
    r"""\b(?:from|import|require\(|import\()[ \t]{0,9}["'](\.{1,2}/[^"'\n]*)["']"""
)
_GO: Final = re.compile(
    r'^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([^"\s]+)"[ \t]*$', re.MULTILINE
)
_GO_MODULE: Final = re.compile(r"^module[ \t]+(\S+)", re.MULTILINE)
_RUST: Final = re.compile(
    r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?"
    r"(?:mod[ \t]+(\w+)[ \t]*;|use[ \t]+(?:(crate|super|self)::)([\w:]+))",
    re.MULTILINE,
)
_JAVA: Final = re.compile(r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)", re.MULTILINE)
_C: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)
_RUBY: Final = re.compile(
    r"""^[ \t]*require_relative[ \t]+["']([^"'\n]+)["']""", re.MULTILINE
)

_ENDINGS: Final = (
    *(".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    *("/index.ts", "/index.tsx", "/index.js", "/index.jsx"),
)
_SOURCES: Final = re.compile(r"(?:.*/)?(?:java|kotlin|scala)/")


MOST_READ: Final = 500
"""The most files read for one plan."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A commit; at most MOST_READ of its files are read, each once."""

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
        return [p for p in task.paths if p in self.known and not p.endswith("/")]

    def within(self, task: TaskSpec) -> list[str]:
        """Return the existing files that a task names, or that lie in its folders."""
        exact = self.declared(task)
        folders = tuple(f"{p.rstrip('/')}/" for p in task.paths if p not in exact)
        inside = (file for file in self.files if file.startswith(folders))
        return [*dict.fromkeys((*exact, *(inside if folders else ())))][:MOST_READ]

    def read(self, file: str) -> str:
        """Return a file's text; empty once MOST_READ files were read."""
        if file not in self._texts and len(self._texts) < MOST_READ:
            self._texts[file] = self.text(file)
        return self._texts.get(file, "")

    def imports(self, file: str) -> frozenset[str]:
        if not is_read(file):
            return frozenset()
        if file not in self._links:
            self._links[file] = self.imported(file, self.read(file))
        return self._links[file]

    def imported(self, path: str, text: str) -> frozenset[str]:
        """Return what a file's text imports: files and, in Go, folders."""
        rule = _LANGUAGES.get(splitext(path)[1])
        groups = rule(path, text, self) if rule else ()
        there = (next(filter(self.known.__contains__, group), "") for group in groups)
        return frozenset(filter(None, there)) - {path}

    @cached_property
    def go_module(self) -> str:
        """The module name with which its own Go imports begin; empty: none."""
        text = self.read("go.mod") if "go.mod" in self.known else ""
        found = _GO_MODULE.search(text)
        return found[1] if found else ""

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Folders, with a slash at their end, in which absolute names begin."""
        found: Counter[str] = Counter()
        for file in self.files:
            if file.endswith("/__init__.py"):
                above = dirname(dirname(file))
                root = f"{above}/" if above else ""
                if f"{root}__init__.py" not in self.known:
                    found[root] += 1
            elif file.endswith((".java", ".kt", ".scala")) and (
                source := _SOURCES.match(file)
            ):
                found[source[0]] += 1
        most = (root for root, _ in found.most_common(ROOTS))
        return tuple(dict.fromkeys(("", "src/", *most)))


Rule = Callable[[str, str, Ground], Groups]
"""Gives what a file's text imports, by its path, the text and the commit."""


def is_read(path: str) -> bool:
    return path.endswith(_READ)


def _python(path: str, text: str, ground: Ground) -> Iterator[tuple[str, ...]]:
    for node in _statements([found.strip() for found in _PYTHON.findall(text)]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _modules(_absolute(path, alias.name, ground))
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").replace(".", "/")
            places = _absolute(path, module, ground)
            if node.level:
                above = dirname(path)
                for _ in range(node.level - 1):
                    above = dirname(above)
                places = (join(above, module).strip("/"),)
            for alias in node.names:  # of a submodule, else of the module
                inner = tuple(f"{place}/{alias.name}" for place in places)
                yield (*_modules(inner), *_modules(places))


def _statements(texts: list[str]) -> Iterator[ast.stmt]:
    """Parse statements all at once, or one by one if that fails."""
    try:
        yield from ast.parse("\n".join(texts)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for text in texts if len(texts) > 1 else ():
            yield from _statements([text])


def _absolute(path: str, name: str, ground: Ground) -> tuple[str, ...]:
    inside = name.replace(".", "/")
    beside = f"{dirname(path)}/" if "/" in path else ""
    return tuple(f"{root}{inside}" for root in (*ground.roots, beside))


def _modules(places: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        f"{place}{end}" for place in places for end in (".py", "/__init__.py", ".pyi")
    )


def _beside(
    statement: re.Pattern[str], *endings: str, roots: tuple[str, ...] = ()
) -> Rule:
    """Return the rule of a language whose imports name files beside their own."""

    def rule(path: str, text: str, _ground: Ground) -> Groups:
        for name in statement.findall(text):
            place = normpath(join(dirname(path), name))
            bare, ending = splitext(place)
            # TypeScript names the file that will be made: `./a.js` is a.ts.
            is_made = statement is _SCRIPT and ending in (".js", ".jsx")
            made = (f"{bare}.ts", f"{bare}.tsx") if is_made else ()
            rooted = (f"{root}{name}" for root in roots)
            yield (*(f"{place}{end}" for end in ("", *endings)), *made, *rooted)

    return rule


def _go(_path: str, text: str, ground: Ground) -> Iterator[tuple[str, ...]]:
    module = ground.go_module
    for name in _GO.findall(text) if module else ():
        if name.startswith(f"{module}/"):
            yield (name.removeprefix(f"{module}/") + "/",)


def _rust(path: str, text: str, _ground: Ground) -> Iterator[tuple[str, ...]]:
    folder, name = dirname(path), splitext(path)[0].rsplit("/", 1)[-1]
    own = folder if name in ("mod", "lib", "main") else join(folder, name)
    crate = path[: path.rfind("src/") + 3] if "src/" in path else dirname(path)
    starts = {"crate": crate, "self": own, "super": dirname(own)}
    for module, start, rest in _RUST.findall(text):
        if module:
            places = [join(own, module)]
        else:
            parts = [part for part in rest.split("::") if part]
            lengths = range(len(parts), -1, -1)
            places = [join(starts[start], *parts[:length]) for length in lengths]
        yield tuple(f"{place}{end}" for place in places for end in (".rs", "/mod.rs"))


def _java(_path: str, text: str, ground: Ground) -> Iterator[tuple[str, ...]]:
    for name in _JAVA.findall(text):
        inside = name.replace(".", "/")
        yield tuple(
            f"{root}{place}{end}"
            for root in ground.roots
            for place in (inside, dirname(inside))
            for end in (".java", ".kt", ".scala")
        )


_LANGUAGES: Final[dict[str, Rule]] = {
    **dict.fromkeys((".py", ".pyi"), _python),
    **dict.fromkeys(_ENDINGS[:8], _beside(_SCRIPT, *_ENDINGS)),
    **dict.fromkeys((".java", ".kt", ".scala"), _java),
    **dict.fromkeys(
        (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"),
        _beside(_C, roots=("include/", "src/", "")),
    ),
    ".go": _go,
    ".rs": _rust,
    ".rb": _beside(_RUBY, ".rb"),
}
_READ: Final = tuple(_LANGUAGES)


SWEEPING: Final = 30
"""A commit with more files than this says nothing about any two of them."""
OFTEN: Final = 3
"""Fewer common commits than this are chance."""


def changed_together(
    past: Iterable[tuple[str, ...]], files: Collection[str]
) -> tuple[tuple[str, str, int], ...]:
    """Return pairs of files that changed together, and in how many commits, most first.

    `past` has the files of each commit. Only `files` count, which are still there.
    """
    counted: Counter[tuple[str, str]] = Counter()
    for commit in past:
        if len(commit) <= SWEEPING:
            here = sorted(name for name in commit if name in files)
            counted.update(combinations(here, 2))
    often = (each for each in counted.most_common() if each[1] >= OFTEN)
    return tuple((one, other, count) for (one, other), count in often)


def scopes(tasks: Iterable[TaskSpec], ground: Ground) -> tuple[Scope, ...]:
    return tuple(
        Scope(task=task.number, creates=absent)
        for task in tasks
        if (absent := tuple(path for path in task.paths if not ground.has(path)))
    )


def absent_paths(found: Iterable[Scope], ground: Ground) -> Iterator[str]:
    """Give a remark for each path that does not exist and may be a slip."""
    for scope in found:
        for path in scope.creates:
            same = [file for file in ground.files if basename(file) == basename(path)]
            near = f"; did you mean {same[0]}?" if same else ""
            yield (
                f"task {scope.task} names {path}, which does not exist, so the task "
                f"must create it{near}"
            )
