"""Reads which boxes a repository's issue forms show. Pure.

https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from convoy.planner.consent import plain

FOLDER: Final = ".github/ISSUE_TEMPLATE/"
FILES_MOST: Final = 40
FORM_CHARS: Final = 65_536
"""A longer file is not read: the parser takes some 10 s for a megabyte."""


def forms(files: Iterable[str]) -> list[str]:
    """Return which of a commit's files are issue forms, at most `FILES_MOST`."""
    found = [
        name
        for name in files
        if name.startswith(FOLDER) and name.endswith((".yml", ".yaml"))
    ]
    return found[:FILES_MOST]


def box_labels(texts: Iterable[str]) -> frozenset[str]:
    """Return the labels of the forms' boxes, as `plain` writes them.

    Args:
        texts: the forms, YAML by anybody; what is no form has no labels.
    """
    found = (plain(label) for text in texts for label in _labels(text))
    return frozenset(filter(None, found))


def _labels(text: str) -> Iterator[str]:
    """Yield the label of each option of each group of boxes.

    Only the schema's own path is followed, so aliases cannot multiply what is read.
    """
    for element in _entries(_loaded(text), "body"):
        if _at(element, "type") == "checkboxes":
            for option in _entries(_at(element, "attributes"), "options"):
                label = _at(option, "label")
                if isinstance(label, str):
                    yield label


def _loaded(text: str) -> object:
    """Return the YAML's content; None: it is none, and GitHub shows no form."""
    # 40 ms to load, and most processes read no form.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(text) > FORM_CHARS:
        return None
    try:
        content: object = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    return content


def _at(found: object, key: str) -> Any:  # noqa: ANN401  what a stranger wrote
    return found.get(key) if isinstance(found, dict) else None


def _entries(found: object, key: str) -> list[Any]:
    entries = _at(found, key)
    return entries if isinstance(entries, list) else []
