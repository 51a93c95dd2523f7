"""Which files of a repository a file imports. Pure.

Line patterns find the import statements; for Python, `ast` reads them. A name counts
only if it is a file or folder of the repository, so an apparent statement in a string
or comment does little harm. docs/decisions/0024 says why there is no parser.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname, join, normpath, splitext
from typing import Final

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
    *("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    *("/index.ts", "/index.tsx", "/index.js", "/index.jsx"),
)
_SOURCES: Final = re.compile(r"(?:.*/)?(?:java|kotlin|scala)/")


@dataclass(frozen=True)
class Project:
    """The files and folders in which imported names are looked up."""

    files: frozenset[str]
    go_module: str = ""
    """The module name with which the project's own Go imports begin."""

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, with a slash at its end."""
        return frozenset({file[: file.rfind("/") + 1] for file in self.files} - {""})

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Folders, with a slash at their end, in which absolute names begin."""
        found: Counter[str] = Counter()
        for file in self.files:
            if file.endswith("/__init__.py"):
                above = dirname(dirname(file))
                root = f"{above}/" if above else ""
                if f"{root}__init__.py" not in self.files:
                    found[root] += 1
            elif file.endswith((".java", ".kt", ".scala")) and (
                source := _SOURCES.match(file)
            ):
                found[source[0]] += 1
        most = (root for root, _ in found.most_common(ROOTS))
        return tuple(dict.fromkeys(("", "src/", *most)))


def go_module(text: str | None) -> str:
    """Return the module that a go.mod file names; empty: none."""
    found = _GO_MODULE.search(text or "")
    return found[1] if found else ""


def is_read(path: str) -> bool:
    """Whether there are rules for such a file."""
    return path.endswith(_READ)


def imported(path: str, text: str, project: Project) -> frozenset[str]:
    """Return the files (for Go folders, with a slash) that a file's text imports.

    Args:
        path: the file, as in the repository.
        text: what it holds.
        project: the repository's files.
    """
    groups = _LANGUAGES.get(splitext(path)[1], _nothing)
    found = (_first(group, project) for group in groups(path, text, project))
    return frozenset(filter(None, found)) - {path}


def _first(group: tuple[str, ...], project: Project) -> str:
    for each in group:
        if each in project.files or each in project.folders:
            return each
    return ""


def _nothing(_path: str, _text: str, _project: Project) -> Groups:
    return ()


def _python(path: str, text: str, project: Project) -> Iterator[tuple[str, ...]]:
    for node in _statements([found.strip() for found in _PYTHON.findall(text)]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _modules(_absolute(path, alias.name, project))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield _imported_from(path, node, alias.name, project)


def _statements(texts: list[str]) -> Iterator[ast.stmt]:
    """Parse statements all at once, or one by one if that fails."""
    try:
        yield from ast.parse("\n".join(texts)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for text in texts if len(texts) > 1 else ():
            yield from _statements([text])


def _imported_from(
    path: str, node: ast.ImportFrom, name: str, project: Project
) -> tuple[str, ...]:
    """Return where `from module import name` leads: a submodule, else the module."""
    module = (node.module or "").replace(".", "/")
    if node.level:
        above = dirname(path)
        for _ in range(node.level - 1):
            above = dirname(above)
        places: tuple[str, ...] = (join(above, module).strip("/"),)
    else:
        places = _absolute(path, module, project)
    inner = tuple(f"{place}/{name}" for place in places)
    return (*_modules(inner), *_modules(places))


def _absolute(path: str, name: str, project: Project) -> tuple[str, ...]:
    inside = name.replace(".", "/")
    beside = f"{dirname(path)}/" if "/" in path else ""
    return tuple(f"{root}{inside}" for root in (*project.roots, beside))


def _modules(places: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        f"{place}{end}" for place in places for end in (".py", "/__init__.py", ".pyi")
    )


def _script(path: str, text: str, _project: Project) -> Iterator[tuple[str, ...]]:
    for name in _SCRIPT.findall(text):
        place = _beside(path, name)
        bare, ending = splitext(place)
        # TypeScript names the file that will be made: `./a.js` is a.ts.
        made = (f"{bare}.ts", f"{bare}.tsx") if ending in (".js", ".jsx") else ()
        yield (*(f"{place}{end}" for end in _ENDINGS), *made)


def _go(_path: str, text: str, project: Project) -> Iterator[tuple[str, ...]]:
    module = project.go_module
    for name in _GO.findall(text) if module else ():
        if name.startswith(f"{module}/"):
            yield (name.removeprefix(f"{module}/") + "/",)


def _rust(path: str, text: str, _project: Project) -> Iterator[tuple[str, ...]]:
    folder, name = dirname(path), splitext(path)[0].rsplit("/", 1)[-1]
    own = folder if name in ("mod", "lib", "main") else join(folder, name)
    crate = path[: path.rfind("src/") + 3] if "src/" in path else dirname(path)
    starts = {"crate": crate, "self": own, "super": dirname(own)}
    for module, start, rest in _RUST.findall(text):
        if module:
            yield _rust_module(join(own, module))
            continue
        parts = [part for part in rest.split("::") if part]
        yield tuple(
            place
            for length in range(len(parts), -1, -1)
            for place in _rust_module(join(starts[start], *parts[:length]))
        )


def _rust_module(place: str) -> tuple[str, ...]:
    return (f"{place}.rs", f"{place}/mod.rs")


def _java(_path: str, text: str, project: Project) -> Iterator[tuple[str, ...]]:
    for name in _JAVA.findall(text):
        inside = name.replace(".", "/")
        yield tuple(
            f"{root}{place}{end}"
            for root in project.roots
            for place in (inside, dirname(inside))
            for end in (".java", ".kt", ".scala")
        )


def _c(path: str, text: str, _project: Project) -> Iterator[tuple[str, ...]]:
    for name in _C.findall(text):
        yield (
            _beside(path, name),
            *(f"{root}{name}" for root in ("include/", "src/", "")),
        )


def _ruby(path: str, text: str, _project: Project) -> Iterator[tuple[str, ...]]:
    for name in _RUBY.findall(text):
        yield (_beside(path, name), f"{_beside(path, name)}.rb")


def _beside(path: str, name: str) -> str:
    return normpath(join(dirname(path), name))


Rule = Callable[[str, str, Project], Groups]
_LANGUAGES: Final[dict[str, Rule]] = {
    **dict.fromkeys((".py", ".pyi"), _python),
    **dict.fromkeys((*_ENDINGS[1:9],), _script),
    **dict.fromkeys((".java", ".kt", ".scala"), _java),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"), _c),
    ".go": _go,
    ".rs": _rust,
    ".rb": _ruby,
}
_READ: Final = tuple(_LANGUAGES)


def linked(
    texts: Iterable[tuple[str, str]], files: Collection[str], module: str = ""
) -> dict[str, frozenset[str]]:
    """Return what each of these files (path, text) imports, if anything."""
    project = Project(frozenset(files), module)
    found = {path: imported(path, text, project) for path, text in texts}
    return {path: names for path, names in found.items() if names}
