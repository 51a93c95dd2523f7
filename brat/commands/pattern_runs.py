"""`brat workflow`: list and show patterns, and start a convoy from one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from bot.repository.commits import template_at, template_files, template_text
from brat.commands import start_convoy
from brat.local import local_mode
from brat.repository import checkout as checkouts
from brat.repository.checkout import Checkout
from brat.terminal.console import out, say, write
from convoy.patterns import (
    BUILT_IN,
    PatternError,
    Template,
    built_in_text,
    own_patterns,
)
from convoy.patterns.compiling import Use, compiled
from grite.errors import BratError

OK: Final = 0
FAULTY: Final = 1
_HEAD: Final = "HEAD"


def show_all(path: Path, *, as_json: bool) -> int:
    """Print every pattern of the newest commit; return 1 when a pattern has faults."""
    checkout = checkouts.find(path)
    found = list(_patterns(checkout))
    if as_json:
        write(json.dumps({"patterns": [each for each, _ in found]}))
    else:
        table = Table("pattern", "inputs", "what it is for", box=None)
        for each, faults in found:
            needed = (f"{name}=…" for name in each["inputs"])
            told = "faults, see below" if faults else each["description"]
            table.add_row(each["name"], " ".join(needed), told)
        out.print(table)
    for _, faults in found:
        for line in faults:
            say(line)
    return FAULTY if any(faults for _, faults in found) else OK


def _patterns(checkout: Checkout) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield each pattern's facts and its faults."""
    ours = own_patterns(template_files(checkout.top, _HEAD))
    for name in (*ours, *(each for each in BUILT_IN if each not in ours)):
        file = ours.get(name)
        try:
            template = template_at(checkout.top, _HEAD, name)
        except PatternError as error:
            faults = str(error).splitlines()
            bare: dict[str, Any] = {"description": "", "inputs": {}}
            yield {"name": name, "file": file, **bare, "faults": faults}, faults
        else:
            yield {"name": name, "file": file, **_known(template), "faults": []}, []


def _known(template: Template) -> dict[str, Any]:
    whole = template.model_dump()
    return {key: whole[key] for key in ("description", "inputs")}


def show(path: Path, name: str, *, as_json: bool) -> int:
    """Print one pattern: its file as it is, or its content as JSON."""
    checkout = checkouts.find(path)
    template = template_at(checkout.top, _HEAD, name)
    if as_json:
        steps = [step.model_dump() for step in template.all_steps]
        write(json.dumps({"name": name, **_known(template), "steps": steps}))
        return OK
    file = own_patterns(template_files(checkout.top, _HEAD)).get(name)
    text = template_text(checkout.top, _HEAD, file) if file else built_in_text(name)
    write(text.rstrip("\n"))
    return OK


def run(
    path: Path,
    name: str,
    task: str,
    values: Sequence[str],
    *,
    headless: bool,
    timeout: str | None,
) -> int:
    """Start a convoy from a pattern; return the exit status.

    Raises:
        BratError: there is no such pattern, or it does not take these inputs.
    """
    checkout = checkouts.find(path)
    inputs = _inputs(values)
    settings = local_mode.configuration(checkout).settings()
    use = Use(
        name=name,
        title=task,
        text="",
        inputs=inputs,
        engines=settings.workers,
        limit=settings.tasks,
    )
    for warning in compiled(template_at(checkout.top, _HEAD, name), use).warnings:
        say(f"look out: {warning}")
    said = _comment(name, inputs)
    how = start_convoy.Start(headless=headless, timeout=timeout, comment=said)
    return start_convoy.mayor_start(path, task, how)


def _inputs(values: Sequence[str]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for each in values:
        key, sign, value = each.partition("=")
        if not sign or not key.strip():
            raise BratError(f'"{each}" is no input: write -v name=value')
        if "\n" in value:
            raise BratError(f"{key} has more than one line: that goes into --task")
        inputs[key.strip()] = value
    return inputs


def _comment(name: str, inputs: Mapping[str, str]) -> str:
    """Return the comment that a person would write on the issue."""
    words = (f"{key}={_quoted(value)}" for key, value in inputs.items())
    return " ".join(("/brat start", f"pattern={name}", *words))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
