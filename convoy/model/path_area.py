"""Whether paths are code, tests or documents, judged by their names. Pure."""

import re
from collections.abc import Iterable
from typing import Final, Literal

Area = Literal["code", "tests", "docs", "nothing"]

DEPENDENCIES: Final = re.compile(
    r"(^|/)(requirements[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)|package\.json|go\.mod"
    r"|Cargo\.toml|Gemfile|pom\.xml|build\.gradle[^/]*|[^/]*\.lock|package-lock\.json)$"
)
_TEST: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata)/|(^|/)(test_[^/]*|conftest\.py)$"
    r"|[._-](test|spec)s?\.\w+$"
)
_DOCS: Final = re.compile(r"(^|/)docs?/|\.(md|rst|adoc|txt)$|(^|/)LICENSE[^/]*$")


def area_of(paths: Iterable[str]) -> Area:
    """Return the area of several paths: code before tests, tests before documents."""
    areas = {area_of_path(path) for path in paths}
    found: tuple[Area, ...] = ("code", "tests", "docs")
    return next((area for area in found if area in areas), "nothing")


def area_of_path(path: str) -> Area:
    """Return the area of one path; build files are code."""
    if _TEST.search(path):
        return "tests"
    if DEPENDENCIES.search(path):
        return "code"
    return "docs" if _DOCS.search(path) else "code"
