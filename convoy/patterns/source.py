"""YAML as data that knows its lines, within bounds. Pure.

Only mappings, lists and words: every scalar is a text, no tag constructs anything, and
there are no anchors, so that a file is never larger than it looks.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
)
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from convoy.patterns import PatternError
from convoy.text.plaintext import clean, cut

MOST_BYTES: Final = 32_000
MOST_LINES: Final = 500
MOST_DEEP: Final = 20
_NULL: Final = "tag:yaml.org,2002:null"

Place = tuple[int | str, ...]


class Source(NamedTuple):
    """What a file says, and on which line each part of it begins."""

    data: Any
    lines: Mapping[Place, int]
    """By the way to it, such as `("steps", 0, "id")`; from 1."""

    def line_of(self, place: Place) -> int:
        """Return the line of a place, or of the nearest thing around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read(text: str, name: str) -> Source:
    """Return what a file says.

    Args:
        text: the whole file, by anybody.
        name: what faults call it.

    Raises:
        PatternError: it is no YAML, or more of it than a template takes.
    """
    if len(text.encode(errors="replace")) > MOST_BYTES or text.count("\n") > MOST_LINES:
        raise PatternError(
            f"{name}: a template has at most {MOST_LINES} lines and {MOST_BYTES} bytes"
        )
    try:
        _bounded(text, name)
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = " ".join(str(error.problem or error.context).split())
        raise PatternError(f"{name}: line {line}: this is no YAML: {what}") from error
    except (YAMLError, RecursionError, ValueError) as error:
        what = " ".join(str(error).split())
        raise PatternError(f"{name}: this is no YAML: {cut(what, 200)}") from error
    lines: dict[Place, int] = {}
    return Source(_data(node, (), lines, name), lines)


def _bounded(text: str, name: str) -> None:
    """Look at the file's parts one by one, before anything is built of them."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > MOST_DEEP:
            line = event.start_mark.line + 1
            raise PatternError(f"{name}: line {line}: this is nested too deeply")
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            line = event.start_mark.line + 1
            raise PatternError(f"{name}: line {line}: a template has no anchors (& *)")


def _data(node: Node | None, at: Place, lines: dict[Place, int], name: str) -> Any:  # noqa: ANN401  any YAML
    """Return a node as data, and note the lines of all that is in it."""
    if node is None:
        return None
    lines.setdefault(at, node.start_mark.line + 1)
    match node:
        case MappingNode():
            pairs = list(_pairs(node, at, lines, name))
            return {key: _data(value, (*at, key), lines, name) for key, value in pairs}
        case SequenceNode():
            items = enumerate(node.value)
            return [_data(item, (*at, n), lines, name) for n, item in items]
        case ScalarNode():
            return None if node.tag == _NULL else clean(node.value)
        case _:
            raise PatternError(
                f"{name}: line {lines[at]}: this is no text, list or map"
            )


def _pairs(
    node: MappingNode, at: Place, lines: dict[Place, int], name: str
) -> Iterator[tuple[str, Node]]:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise PatternError(f"{name}: line {line}: a key is a word")
        word = clean(key.value)
        if word in seen:
            raise PatternError(f'{name}: line {line}: "{cut(word, 60)}" is there twice')
        seen.add(word)
        lines[(*at, word)] = line
        yield word, value
