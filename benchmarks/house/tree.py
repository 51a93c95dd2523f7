"""A checkout's product files, parsed once. Nothing of it is imported or run."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PACKAGES: Final = ("brat", "bot", "runner", "convoy", "grite")
NAMELESS: Final = frozenset({"__init__.py", "__main__.py"})
"""Python's own names, which every room may have."""
_SAMPLE: Final = "/sample/"
"""The demo's project: counted as lines, as ever, but no code of ours."""


@dataclass(frozen=True)
class Source:
    """One file."""

    path: str
    """From the top of the checkout."""
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """Its dotted name."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        """How many it has."""
        return self.text.count("\n")

    @property
    def is_sample(self) -> bool:
        """Whether it belongs to the project that the demo works on."""
        return _SAMPLE in self.path


def sources(top: Path) -> list[Source]:
    """Return the product's Python files of the checkout at `top`, by path."""
    return [
        Source(path, text, ast.parse(text))
        for path in _tracked(top)
        if (text := (top / path).read_text())
    ]


def strings_in(source: Source) -> Iterator[str]:
    """Give each whole string that stands in a file's code."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def names_in(source: Source) -> Iterator[str]:
    """Give each identifier and each whole string that stands in a file's code."""
    yield from strings_in(source)
    for node in ast.walk(source.tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case _:
                pass


def _tracked(top: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", *(f"{package}/*.py" for package in PACKAGES)],
        cwd=top,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for path in listed.stdout.splitlines() if (top / path).is_file()]
