"""Reports: what a task may end in instead of a change, and what one must be. Pure.

A report is a stranger's text. It is judged by a schema, and by whether the files it
names are there; what is wrong is told to the next attempt.
"""

import json
from collections.abc import Collection, Iterator
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.events import Finding, Kind, Report
from convoy.planner import REPLY
from convoy.text.json_block import json_in
from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted
from grite.errors import BratError

HANDED_CHARS: Final = 12_000
"""So much of a report is handed to each task that waits for it."""
FAULTS: Final = 10

_BRIEF: Final = """\
{what}

Write it into the file `{file}` at the top of this folder: one JSON object that fits
this schema, and nothing else. If you cannot write files, end your last message with it,
in a block of ```json.

{schema}

`summary` answers the question in a few sentences. Each finding is one thing that you
saw, with the `paths` that show it: files or folders there are, relative to the top of
the repository. What you could not find out goes into `open`.
"""
_WHAT: Final[dict[Kind, str]] = {
    "report": "Find out what the task asks for, and report it; change nothing. Look "
    "around in this folder, a checkout of the repository.",
    "scout": "This is a scouting attempt: try what the task asks for in this folder, a "
    "checkout of the repository, as far as it takes to know how hard it is, and report "
    "what you learned. Nothing that you change here is ever used.",
}


class Unfit(BratError):
    """The answer is no report; its text says why."""


class Found(BaseModel):
    """One thing that was found out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, Field(min_length=1, max_length=200)]
    detail: Annotated[str, Field(max_length=2_000)] = ""
    paths: Annotated[tuple[str, ...], Field(max_length=20)] = ()


class Reported(BaseModel):
    """A whole report, as an agent writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: Annotated[str, Field(min_length=1, max_length=4_000)]
    findings: Annotated[tuple[Found, ...], Field(max_length=30)] = ()
    recommendation: Annotated[str, Field(max_length=2_000)] = ""
    open: Annotated[
        tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=20)
    ] = ()


def brief(kind: Kind) -> str:
    """Return what a session that reports is told beside its task, in Markdown."""
    schema = json.dumps(Reported.model_json_schema(), separators=(",", ":"))
    return _BRIEF.format(what=_WHAT[kind], file=REPLY, schema=schema)


def read(text: str, known: Collection[str] | None) -> Report:
    """Return the report that an agent wrote, cleaned.

    Args:
        text: what it wrote, with the report as the last JSON object.
        known: the files and folders (with a slash) that a finding may name; None: any.

    Raises:
        Unfit: it is no report.
    """
    try:
        found = Reported.model_validate(json_in(text, "report"))
    except ValueError as error:
        raise Unfit(_said(error)) from error
    if missing := list(_missing(found, known)):
        raise Unfit(" ".join(missing[:FAULTS]))
    report = Report(
        summary=_words(found.summary),
        findings=tuple(
            Finding(
                title=" ".join(_words(each.title).split()),
                detail=_words(each.detail),
                paths=tuple(map(_words, each.paths)),
            )
            for each in found.findings
        ),
        recommendation=_words(found.recommendation),
        open=tuple(" ".join(_words(each).split()) for each in found.open),
    )
    if not report.summary:
        raise Unfit("The report has no summary.")
    return report


def _said(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    faults = error.errors()[:FAULTS]
    places = (".".join(map(str, fault["loc"])) or "The report" for fault in faults)
    return " ".join(
        f"{cut(clean(place), 80)}: {fault['msg'].rstrip('.')}."
        for place, fault in zip(places, faults, strict=True)
    )


def _missing(found: Reported, known: Collection[str] | None) -> Iterator[str]:
    for number, finding in enumerate(found.findings, 1):
        for path in finding.paths:
            there = known is None or path in known or f"{path}/" in known
            if not there:
                yield f'Finding {number}: there is no "{cut(clean(path), 80)}".'


def _words(text: str) -> str:
    return redacted(clean(text)).strip()


def lines(report: Report) -> str:
    """Return a report as it is handed to other agents, cut."""
    parts = [report.summary]
    for finding in report.findings:
        where = f" ({', '.join(finding.paths)})" if finding.paths else ""
        detail = f": {finding.detail}" if finding.detail else ""
        parts.append(f"- {finding.title}{where}{detail}")
    if report.recommendation:
        parts.append(f"It recommends: {report.recommendation}")
    parts += (f"Open: {each}" for each in report.open)
    return cut("\n".join(parts), HANDED_CHARS)
