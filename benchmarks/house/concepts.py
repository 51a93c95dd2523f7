"""In how many product files one concept is named: what a change of it has to open."""

import ast
import statistics
from collections.abc import Iterable, Iterator
from typing import Final

from benchmarks.house.tree import Source, names_in, strings_in

VERBS: Final = ("unqueue", "revise", "depends", "unlock", "ping", "rebase")
"""Those whose word means little else."""
KINDS: Final = ("rival", "choice", "scout", "split")
ENGINES: Final = ("opencode", "gemini", "codex", "copilot", "aider")


def naming(files: Iterable[Source]) -> dict[str, float]:
    """Return the median number of files that name one verb, event, kind, key, engine.

    A file names a concept when its code has the word as an identifier or as a whole
    string: for an event its class or its type, for a verb also its class; a kind only
    as a string, an engine anywhere in the text.
    """
    listed = [source for source in files if not source.is_sample]
    words = [set(names_in(source)) for source in listed]

    def median(concepts: Iterable[set[str]]) -> float:
        return statistics.median(
            sum(not concept.isdisjoint(each) for each in words) for concept in concepts
        )

    return {
        "files naming a verb": median({verb, verb.capitalize()} for verb in VERBS),
        "files naming an event": median(_events(listed)),
        "files naming a kind": statistics.median(
            sum(kind in strings for strings in map(set, map(strings_in, listed)))
            for kind in KINDS
        ),
        "files naming a key": median({key} for key in _keys(listed)),
        "files naming an engine": statistics.median(
            sum(engine in source.text.lower() for source in listed)
            for engine in ENGINES
        ),
    }


def _events(files: Iterable[Source]) -> Iterator[set[str]]:
    """Give the class and the type of each event: structs whose tag has a dot."""
    for source in files:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ClassDef):
                continue
            for keyword in node.keywords:
                match keyword:
                    case ast.keyword(arg="tag", value=ast.Constant(value=str(tag))) if (
                        "." in tag and source.path.startswith("convoy/")
                    ):
                        yield {node.name, tag}


def _keys(files: Iterable[Source]) -> Iterator[str]:
    """Give the configuration's keys whose word means nothing else: with two parts."""
    for source in files:
        if not source.path.startswith(("convoy/config/", "convoy/model/records")):
            continue
        for node in ast.walk(source.tree):
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if (
                    "_" in name.strip("_") and name.islower() and name[0] != "_"
                ):
                    if source.path.startswith("convoy/config/") or "Key(" in (
                        ast.unparse(kind)
                    ):
                        yield name
