"""YAML and TOML that anybody may have written, read within limits.

A parser's time must not grow faster than its file. In YAML an alias repeats what its
anchor has, so nine lines of nine aliases each stand for hundreds of millions of values;
merge keys (`<<`) copy them while the file is read. So a document is only built once its
values were counted, each as often as it is repeated. Python's TOML reader looks at all
beginnings of a dotted key, which for one of 100 kB takes half a minute; nobody writes
one of more than a few parts. What is beyond a limit is `TooMuch`, so that no reader
takes it for an empty file.
https://yaml.org/spec/1.2.2/#71-alias-nodes
"""

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from grite.errors import BratError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

YAML_VALUES: Final = 100_000
"""The most keys and values, each counted as often as aliases repeat it."""
TOML_CHARS: Final = 65_536
TOML_VALUES: Final = 3_000
KEY_PARTS: Final = 32
_PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY: Final = re.compile(rf"(?<![\w-]){_PART}(?:\.[ \t]*+{_PART}){{{KEY_PARTS}}}")


class TooMuch(BratError):
    """It is not read, as that could take too long; the message says why."""


def yaml_data(text: str, most_chars: int) -> Any:  # noqa: ANN401  any YAML
    """Return what one document says; a megabyte takes some 10 s of a processor.

    Raises:
        TooMuch: it is longer, or stands for more, than is read.
        ValueError: it is no YAML.
    """
    # 40 ms to load, and most processes read no YAML.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(text) > most_chars:
        raise TooMuch(f"it exceeds the limit of {most_chars} characters")
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
        if node is None:
            return None
        if _values(node, {}) > YAML_VALUES:
            raise TooMuch(f"its aliases expand to more than {YAML_VALUES} values")
        return yaml.constructor.construct_document(node)
    except (YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def _values(node: "Node", known: dict[int, int]) -> int:
    """Return how many values a node stands for; one that holds itself: too many."""
    if (found := known.get(id(node))) is not None:
        return found
    known[id(node)] = YAML_VALUES + 1
    within = node.value if isinstance(node.value, list) else ()
    count = 1
    for each in within:
        for part in each if isinstance(each, tuple) else (each,):
            count += _values(part, known)
    known[id(node)] = count
    return count


def toml_table(text: str) -> dict[str, Any]:
    """Return what a TOML document says.

    Raises:
        TooMuch: it is longer, or has a longer key, than is read.
        ValueError: it is no TOML; `RecursionError`: it is nested too deeply.
    """
    if len(text) > TOML_CHARS:
        raise TooMuch(f"it exceeds the limit of {TOML_CHARS} characters")
    if sum(map(text.count, "=,[{")) > TOML_VALUES:
        raise TooMuch(f"it exceeds the limit of {TOML_VALUES} keys and values")
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise TooMuch(f"line {line}: a key may have at most {KEY_PARTS} parts")
    return tomllib.loads(text)
