"""What a resolution is worth, beside the one that people committed."""

import ast
import json
import tomllib
from collections import Counter
from enum import StrEnum
from pathlib import PurePosixPath

from benchmarks.conflict_corpus.conflicting_merges import ConflictFile


class Verdict(StrEnum):
    """How a file as it would be stands to the one that people committed."""

    CONFLICT = "conflict"
    """Nothing was resolved."""
    EQUAL = "equal"
    SPACING = "equal up to whitespace"
    ORDER = "same lines, other order"
    DIFFERS = "differs"
    UNREADABLE = "unreadable"
    """No Python, JSON or TOML any more, where the committed one is."""


def judged(file: ConflictFile, made: bytes | None) -> Verdict:
    """Compare what a way made of a file with what people made of it."""
    committed = file.committed if file.committed is not None else b""
    if made is None:
        return Verdict.CONFLICT
    if made == file.committed:
        return Verdict.EQUAL
    if made.split() == committed.split():
        return Verdict.SPACING
    if readable(file.path, committed) and not readable(file.path, made):
        return Verdict.UNREADABLE
    if Counter(_lines(made)) == Counter(_lines(committed)):
        return Verdict.ORDER
    return Verdict.DIFFERS


def _lines(text: bytes) -> list[bytes]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def readable(path: str, text: bytes) -> bool:
    """Tell whether a parser takes the text; what has none here is taken."""
    try:
        match PurePosixPath(path).suffix:
            case ".py":
                ast.parse(text)
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text.decode())
            case _:
                return True
    except (SyntaxError, ValueError):
        return False
    return True
