"""A random draw of mutants out of the syntax trees of the rules.

Ours and small, as it has to run as the written list does: in a copy of the tree, by the
same tests, from a seed. mutmut works through a whole configured project in a folder of
its own and draws nothing; cosmic-ray changes the checkout in place.
"""

import ast
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.mutants.mutant import ROOT, Mutant

RULES: Final = (
    *("convoy/rules/*.py", "convoy/events/*.py", "convoy/owed/*.py"),
    *(
        "convoy/model/task_graph.py",
        "convoy/gate/__init__.py",
        "convoy/log/record.py",
    ),
    *("grite/resource.py", "grite/lease.py"),
)
_COMPARED: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_COUNTED: Final[dict[type[ast.operator], str]] = {ast.Add: "-", ast.Sub: "+"}
Place = tuple[int, int]
"""A line, from 1, and a column, in bytes."""


def drawn(count: int, seed: int, root: Path = ROOT) -> tuple[Mutant, ...]:
    """Return so many mutants of the rules below `root`; same seed, same draw."""
    files = sorted(file for glob in RULES for file in root.glob(glob))
    sites = [
        mutant
        for file in files
        for mutant in _sites(str(file.relative_to(root)), file.read_text())
    ]
    return tuple(random.Random(seed).sample(sites, min(count, len(sites))))  # noqa: S311  no secret


def _sites(file: str, source: str) -> Iterator[Mutant]:
    """Give every change that could be made to a file."""
    lines = source.splitlines(keepends=True)
    for node in _running(ast.parse(source)):
        for start, end, new in _changes(node):
            at, stop = _offset(lines, start), _offset(lines, end)
            old = source[at:stop]
            if new.startswith(" ") and set("()#") & set(old):
                continue  # a bracket closes before the operator
            line = lines[start[0] - 1].strip()
            breaks = (
                f"line {start[0]}, {line}: {_short(old)} → {_short(new.format(old))}"
            )
            yield Mutant(file, at, old, new.format(old), breaks)


def _running(tree: ast.Module) -> Iterator[ast.AST]:
    """Give the nodes inside of functions: all else only declares."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for statement in function.body:
            yield from ast.walk(statement)


def _changes(
    node: ast.AST,
) -> Iterator[tuple[Place, Place, str]]:
    """Give where each change begins and ends, and the new text; `{}` is the old."""
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]):
            yield *_between(left, right), f" {_COMPARED[type(op)]} "
        case ast.BoolOp(op=op, values=[left, right, *_]):
            new = " or " if isinstance(op, ast.And) else " and "
            yield *_between(left, right), new
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _COUNTED:
            yield *_between(left, right), f" {_COUNTED[type(op)]} "
        case ast.If(test=test) | ast.IfExp(test=test):
            yield *_around(test), "not ({})"
        case ast.comprehension(ifs=[test]):
            yield *_around(test), "True"
        case ast.Constant(value=bool() as value):
            yield *_around(node), str(not value)
        case ast.Constant(value=int() as value):
            yield *_around(node), str(value + 1)
        case ast.Starred(value=ast.Call() | ast.Name()):
            yield *_around(node), "*()"
        case ast.Return(value=ast.Tuple(elts=[first, _, *_])):
            yield *_around(first), "*()"
        case _:
            pass


def _around(node: ast.expr) -> tuple[Place, Place]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _between(left: ast.expr, right: ast.expr) -> tuple[Place, Place]:
    return _around(left)[1], _around(right)[0]


def _offset(lines: Sequence[str], place: Place) -> int:
    """Return a place as a count of characters; the column counts bytes."""
    number, column = place
    inside = lines[number - 1].encode()[:column].decode()
    return sum(map(len, lines[: number - 1])) + len(inside)


def _short(text: str) -> str:
    return " ".join(text.split())
