"""Whether each promise is held by a test that runs on each change.

Promises are the rows of promises.toml and the controls of docs/threat-model.md; in
which layer a test is, tests/world/layers.py says. `python -m tests.promises` prints a
sentence for each fault, and exits with 1 if there is one.
"""

import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Annotated, Final

import msgspec
import pytest
from msgspec import Meta, Struct

from tests.world.layers import LAYERS, layer_of

ROOT: Final = Path(__file__).parents[1]
ROWS: Final = Path(__file__).with_suffix(".toml")
PAGE: Final = ROOT / "docs/threat-model.md"
ITSELF: Final = Path(__file__).relative_to(ROOT).as_posix()
"""What holds that the page is whole: it runs on each change, as the tests do."""
SOURCES: Final = ("seed", "README", "threat model")
LAST: Final = ("H12", "A14", "P8", "O8", "S6", "W9", "R12", "M9", "L8", "C5", "N5")
"""The last control of each letter."""
CONTROL: Final = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
NAMED: Final = re.compile(r"`(tests/[\w/]+\.py(?:::\w+)?)`")
UNHELD: Final = re.compile(r"(?ms)^## What no test proves\n(.*?)^## ")
FUNCTION: Final = re.compile(r"(?m)^(?:async )?def ((?:test|check)_\w+)")


class Promise(Struct, frozen=True, forbid_unknown_fields=True):
    """What users were promised, or a control of the threat model."""

    says: Annotated[str, Meta(min_length=1)]
    source: Annotated[str, Meta(pattern="^(seed|README)$")]
    tests: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^tests/[\w/]+\.py::\w+$")], ...],
        Meta(min_length=1),
    ]
    """Functions, whatever their cases. A control may name a whole file."""


class Collector:
    """A plugin that notes in which layers each function, and each file, has a case."""

    def __init__(self) -> None:
        self.layers: defaultdict[str, set[str]] = defaultdict(set)
        self.broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid}: {report.longreprtext}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            # Files of other names are collected by `make image` alone.
            deep = not item.path.match("test_*.py")
            function = item.nodeid.partition("[")[0]
            for name in (function, function.partition("::")[0]):
                self.layers[name].add(LAYERS[-1] if deep else layer_of(item))


def promises_of(
    rows: Sequence[Mapping[str, object]],
) -> tuple[list[Promise], list[str]]:
    """Return the promises of rows in good form, and what is wrong with the others."""
    promises, faults = [], []
    for number, row in enumerate(rows, 1):
        try:
            promises.append(msgspec.convert(row, Promise))
        except msgspec.ValidationError as error:
            name = row.get("says") or f"row {number}"
            faults.append(f"{ROWS.name}: {name}: {error}")
    for says, count in Counter(each.says for each in promises).items():
        if count > 1:
            faults.append(f'{ROWS.name}: "{says}" is there {count} times')
    return promises, faults


def controls_of(page: str) -> dict[str, Promise]:
    """Return the controls that the page says are held by tests, by their ids."""
    return {
        name: Promise(says=f"{name}: {says}", source=SOURCES[-1], tests=tests)
        for name, says, held in CONTROL.findall(page)
        if (tests := tuple(NAMED.findall(held)))
    }


def page_faults(page: str) -> Iterator[str]:
    """Yield which controls the page leaves out, or tells twice or in two ways."""
    counts = Counter(name for name, _, _ in CONTROL.findall(page))
    every = {f"{last[0]}{n + 1}" for last in LAST for n in range(int(last[1:]))}
    if wrong := {name for name in every | {*counts} if counts[name] != (name in every)}:
        last = f"each letter goes up to its last of {', '.join(LAST)}"
        yield f"{PAGE.name}: not there exactly once: {', '.join(sorted(wrong))}; {last}"
    unheld = {*re.findall(r"[A-Z]\d+", "".join(UNHELD.findall(page)))}
    for name in sorted({*counts} - (controls_of(page).keys() ^ unheld)):
        yield f"{PAGE.name}: {name} must name a test, or be said to be held by none"


def names_written() -> set[str]:
    """Return every test that there is, and every file of them."""
    names = {ITSELF}
    for file in (ROOT / "tests").rglob("*.py"):
        if functions := FUNCTION.findall(file.read_text("utf-8")):
            path = file.relative_to(ROOT).as_posix()
            names |= {path, *(f"{path}::{each}" for each in functions)}
    return names


def missing_faults(named: Iterable[str], there: set[str]) -> Iterator[str]:
    """Yield what is named and not there, with what was probably meant."""
    for name in sorted({*named} - there):
        near = [f"did you mean {each}?" for each in get_close_matches(name, there, n=1)]
        yield "; ".join([f"there is no {name}", *near])


def layers_of(files: Iterable[str]) -> Mapping[str, set[str]]:
    """Collect test files; return in which layers each function and file has a case.

    Raises `SystemExit`: they cannot be collected; it holds why.
    """
    collector = Collector()
    options = ("--collect-only", "--quiet", "--layer", LAYERS[-1], "--assert", "plain")
    paths = (str(ROOT / each) for each in files)
    with redirect_stdout(StringIO()):
        status = pytest.main(
            [*options, "-p", "no:cacheprovider", *paths], plugins=[collector]
        )
    if status:
        why = collector.broken or [f"pytest ends with {status}"]
        raise SystemExit("\n".join(f"promises: {each}" for each in why))
    return {**collector.layers, ITSELF: {LAYERS[0]}}


def judged(promises: Sequence[Promise], page: str) -> Iterator[str]:
    """Yield which named tests are missing, and which promises none holds at landing."""
    named = {*NAMED.findall(page), *(test for each in promises for test in each.tests)}
    there = names_written()
    yield from missing_faults(named, there)
    files = {name.partition("::")[0] for name in named} & there - {ITSELF}
    layers = layers_of(sorted(files))
    for each in promises:
        found = {layer for test in each.tests for layer in layers.get(test, ())}
        if found <= {LAYERS[-1]}:
            yield f'no test that runs at landing holds "{each.says}" ({each.source})'


def main() -> int:
    """Judge every promise; return 1 if something is wrong."""
    page = PAGE.read_text("utf-8")
    rows = tomllib.loads(ROWS.read_text("utf-8"))["promise"]
    promises, faults = promises_of(rows)
    promises.extend(controls_of(page).values())
    faults.extend(page_faults(page))
    faults.extend(judged(promises, page))
    if faults:
        sys.stderr.write("".join(f"promises: {each}\n" for each in faults))
        return 1
    counts = Counter(each.source for each in promises)
    told = ", ".join(f"{source} {counts[source]}" for source in SOURCES)
    sys.stdout.write(f"promises: {len(promises)} held at landing ({told})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
