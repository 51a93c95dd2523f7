"""The pages' templates and files, and the parts that are rendered by themselves."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from msgspec import Struct

from bot.dashboard import drawings
from bot.dashboard.access_policy import Visitor
from bot.dashboard.dashboard_source import RepositoryView
from bot.requests import verb_table
from bot.requests.verb import Verb
from convoy.model.session_result import dollars, usage_in_words
from convoy.text import ago, clean, clock, iso, rough
from convoy.text.project_tests import compiler_errors, failing_tests
from convoy.views import progress_words
from convoy.views.reasons import waits_for

_FOLDER: Final = Path(__file__).with_name("static")
FILES: Final = {each.name: each.read_bytes() for each in _FOLDER.iterdir()}
ADDRESSES: Final = {
    name: f"/static/{blake2b(content, digest_size=6).hexdigest()}/{name}"
    for name, content in FILES.items()
}
"""Each file's address, which changes with its content."""

PAGES: Final = Environment(
    loader=PackageLoader("bot.dashboard", "templates"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES.filters |= {one.__name__: one for one in (clock, iso, ago, rough, dollars, zip)}
PAGES.filters["usage"] = usage_in_words
PAGES.globals.update(
    static=ADDRESSES.__getitem__,
    task_buttons=verb_table.task_buttons,
    convoy_buttons=verb_table.convoy_buttons,
    state_parts=drawings.state_parts,
    held_up=drawings.held_up,
    progress_words=progress_words,
    task_verbs=verb_table.BY_TASK_WORD,
    convoy_verbs=verb_table.BY_CONVOY_WORD,
)


def page(
    name: str,
    view: RepositoryView,
    visitor: Visitor,
    **given: Any,  # noqa: ANN401  a page's own values
) -> str:
    """Return a page as HTML, which loads itself again from `path` on news."""
    values = {
        "source": view.source,
        "now": view.now,
        "trouble": view.trouble,
        "visitor": visitor,
        "needs": sum(1 for each in view.waits if each.kind != "issue_next"),
        "at_work": sum(1 for _ in view.state.running()),
        "convoys_by_name": view.state.convoys,
        "waits_for": partial(waits_for, at=view.moment),
        "may_write": visitor.may_write and view.source.carry_out is not None,
    }
    return PAGES.get_template(f"{name}.html").render(values | given)


def index(repositories: Sequence[str], visitor: Visitor) -> str:
    return PAGES.get_template("index.html").render(
        repositories=repositories, visitor=visitor
    )


_INKS: Final = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "", "", "")
_LOOKS: Final = {
    code: (what, name)
    for what, names in (
        ("weight", {"1": "bold", "2": "dim", "22": ""}),
        ("slope", {"3": "italic", "23": ""}),
        ("line", {"4": "underline", "24": ""}),
        ("way", {"7": "inverse", "27": ""}),
        ("ink", {f"{ten}{n}": ink for ten in "39" for n, ink in enumerate(_INKS)}),
    )
    for code, name in names.items()
}
"""What a terminal's codes set, and the class for it. Others change nothing.
https://ecma-international.org/publications-and-standards/standards/ecma-48/
"""
_CODES: Final = re.compile(r"\x1b\[([0-9;]*)m")
_WIDE: Final = re.compile(r"(?<!\d)[34]8;(?:5;\d+|2(?:;\d+){3})")
"""A colour out of 256, or of red, green and blue."""


def _restyled(looks: Mapping[str, str], codes: str) -> dict[str, str]:
    found = {**looks}
    for code in _WIDE.sub("wide", codes).split(";"):
        if not code.strip("0"):
            found = {}
        elif known := _LOOKS.get(code.lstrip("0")):
            found[known[0]] = known[1]
    return found


class PrintedLine(Struct, frozen=True):
    number: int
    text: str
    parts: tuple[tuple[str, str], ...]
    """The text in parts, each with the classes of its looks."""
    is_bad: bool


@lru_cache(maxsize=16)
def printed_lines(text: str) -> tuple[PrintedLine, ...]:
    """Return the lines of a log; its text is clean, but for a terminal's colours."""
    plain = clean(text)
    marks = {*failing_tests(plain), *compiler_errors(plain)}
    looks: dict[str, str] = {}
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = []
        for at, part in enumerate(_CODES.split(line)):
            if at % 2:
                looks = _restyled(looks, part)
            elif part:
                parts.append((" ".join(filter(None, looks.values())), part))
        whole = "".join(part for _, part in parts)
        is_bad = any(mark in whole for mark in marks)
        found.append(PrintedLine(number, whole, tuple(parts), is_bad))
    return tuple(found)


PAGES.filters["lines"] = printed_lines
_PRINTED: Final = PAGES.from_string(
    '{% from "printed.html" import lines %}{{ lines(text, at) }}'
)


def printed(text: str, at: str) -> str:
    return _PRINTED.render(text=text, at=at)


def fault(status: int, said: str) -> str:
    phrase = HTTPStatus(status).phrase
    page = PAGES.get_template("fault.html")
    return page.render(status=status, phrase=phrase, said=said)


SWAPS: Final = "HX-Request"
"""The header of a page's own request, whose answer becomes a part of the page."""
_TOAST: Final = PAGES.from_string(
    '{% from "parts.html" import toast %}{{ toast(said, refused, verb) }}'
)


def toast(said: str, verb: Verb | None = None) -> str:
    """Return what a verb did; None: why it was refused."""
    return _TOAST.render(said=said, refused=verb is None, verb=verb)
