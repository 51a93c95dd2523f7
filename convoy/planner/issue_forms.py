"""Reads which boxes a repository's issue forms show. Pure.

https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
"""

import re
from collections.abc import Iterable
from typing import Final

from convoy.planner.consent import plain

FOLDER: Final = ".github/ISSUE_TEMPLATE/"
FILES_MOST: Final = 40
_LABEL: Final = re.compile(r"^[ \t]*-[ \t]+label:[ \t]*(\S[^\n]{0,400})$", re.MULTILINE)


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

    An option of `checkboxes` is the one list entry of the schema that begins with
    `label`. A label of several lines is not read.

    Args:
        texts: the forms, YAML by anybody; what is no form has no labels.
    """
    found = (plain(label) for text in texts for label in _LABEL.findall(text))
    return frozenset(filter(None, found))
