"""What an issue's text is before it is planned: list, form, or words. Pure.

The items of its task list are those that GitHub shows with a box. A real Markdown
parser decides what a list item is, so that code, quotes and comments hold no tasks. A
box inside an item belongs to that item; a box under a plain bullet is an item, and so
is one that only names an issue, under an item with no other boxes.
https://github.github.com/gfm/#task-list-items-extension-

The boxes of the repository's issue forms are no tasks:
https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema

Whether an issue says too little to begin is told by form alone: a few words without a
list, code, a path or a number. A short issue that names its place is clear enough.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from convoy.planner import paths_in
from convoy.text import clean
from convoy.text.strangers_data import TooMuch, yaml_data

_BOX = re.compile(r"\[([ xX])\][ \t\n]+(?=\S)")
_TYPED = re.compile(
    r"^([ \t]*)(?:([-*+]|[0-9]{1,9}[.)])|[\u2010-\u2015\u2212•‣◦▪●])([^\S\n]+)"
    r"\[([^\S\n]|[xX])\]([^\S\n]+)(?=\S)"
)
"""A box as phones type it, with other dashes and spaces."""
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])
_QUOTED = {"fence", "code_block", "html_block", "blockquote"}
_REFERENCE = re.compile(
    r"(?:[\w.-]+/[\w.-]+)?#[0-9]{1,9}"
    r"|https?://[^\s/]+/[^\s/]+/[^\s/]+/(?:issues|pull)/[0-9]{1,9}\S*"
)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_TAB = 4
STRUCK: Final = re.compile(r"~~[^~]+~~")
"""An item that its author crossed out."""


@dataclass(frozen=True)
class Item:
    """One box of the list."""

    number: int
    """Its place in the text, from 1, counting ticked boxes."""
    done: bool
    lines: tuple[str, ...]
    """Its Markdown without bullet, box and indentation."""
    lead: int
    """How many of the lines form its first paragraph."""
    quoted: frozenset[int]
    """Indexes of the lines that are code or quotes."""
    at: int = 0
    """The line of the text with its box, from 0."""
    bullet: str = "- "
    """What stands before the box, or before that of the item that it goes beside."""

    @property
    def reference(self) -> str:
        """The issue that it consists of, as written; empty: it says more."""
        return reference_in(" ".join(self.lines))


@dataclass(frozen=True)
class Checklist:
    """An issue's text, split into task list items and the rest."""

    items: tuple[Item, ...]
    around: str
    """The text outside the items."""
    headings: tuple[int, ...] = ()
    """The lines of boxes that are no items: those inside them only name issues."""


def reference_in(words: str) -> str:
    """Return the issue that words consist of, as written; empty: they say more."""
    return words.strip() if _REFERENCE.fullmatch(words.strip()) else ""


def checklist(text: str) -> Checklist:
    """Return all items of all task lists in `text`, in their order.

    Its lines end in newlines only.
    """
    tree, lines = SyntaxTreeNode(_BLOCKS.parse(text)), text.split("\n")
    quoted = {n for each in tree.walk() if each.type in _QUOTED for n in _span(each)}
    meant = [
        line if number in quoted else _TYPED.sub(_as_markdown, line)
        for number, line in enumerate(lines)
    ]
    if meant != lines:  # then each box is read as Markdown has it
        tree, lines = SyntaxTreeNode(_BLOCKS.parse("\n".join(meant))), meant
    items: list[Item] = []
    inside: set[int] = set()
    headings: list[int] = []
    beside: dict[range, str] = {}
    for node, box, is_parted in _boxes(tree):
        if is_parted and not _named(node, box):
            headings.append(_span(node).start)
            continue
        part = node.children[0] if is_parted else node
        item = _item(len(items) + 1, box, part, lines, _span(node.children[0]))
        above = (kept for each, kept in beside.items() if item.at in each)
        items.append(replace(item, bullet=next(above, item.bullet)))
        if is_parted:
            beside.setdefault(_span(node), items[-1].bullet)
        inside.update(_span(part))
    outside = ("" if number in inside else line for number, line in enumerate(lines))
    around = _EMPTY_LINES.sub("\n\n", "\n".join(outside)).strip()
    return Checklist(tuple(items), around, tuple(headings))


def _as_markdown(typed: re.Match[str]) -> str:
    indent, bullet, before, box, behind = typed.groups()
    if bullet and not (before + behind).strip(" \t") and box in " xX":
        return typed[0]
    return f"{indent}{bullet or '-'} [{box.strip() or ' '}] "


def _boxes(
    within: SyntaxTreeNode,
) -> Iterator[tuple[SyntaxTreeNode, re.Match[str], bool]]:
    """Yield the list items with a box, each with whether those inside are items, too.

    They are where they only name issues, and it is open itself.
    """
    for node in within.children:
        box = _box(node)
        is_parted = False
        if box is not None:
            boxes = ((each, _box(each)) for each in node.walk(include_self=False))
            named = [_named(each, inner) for each, inner in boxes if inner]
            is_parted = box[1] == " " and bool(named) and all(named)
            yield node, box, is_parted
        if node.type != "blockquote" and (box is None or is_parted):
            yield from _boxes(node)


def _named(node: SyntaxTreeNode, box: re.Match[str]) -> str:
    return reference_in(node.children[0].children[0].content[box.end() :])


def _box(node: SyntaxTreeNode) -> re.Match[str] | None:
    """Return the box that opens a node, or None when it is not a task."""
    if node.type != "list_item" or not node.children:
        return None
    first = node.children[0]
    return _BOX.match(first.children[0].content) if first.type == "paragraph" else None


def _item(
    number: int,
    box: re.Match[str],
    part: SyntaxTreeNode,
    lines: Sequence[str],
    paragraph: range,
) -> Item:
    """Return the item of a box, which is all of this part or begins it."""
    start = paragraph.start
    first = lines[start]
    bullet = first.index("[")
    width = len(first[:bullet].expandtabs(_TAB))
    rest = list(lines[start + 1 : _span(part).stop])
    while rest and not rest[-1].strip():
        rest.pop()
    return Item(
        number=number,
        done=box[1] != " " or bool(STRUCK.fullmatch(first[bullet + 3 :].strip())),
        lines=(
            first[bullet + 3 :].strip(),
            *(_dedented(line, width).rstrip() for line in rest),
        ),
        lead=len(paragraph),
        quoted=frozenset(
            line - start
            for node in part.walk()
            if node.type in _QUOTED
            for line in _span(node)
        ),
        at=start,
        bullet=first[:bullet],
    )


def _span(node: SyntaxTreeNode) -> range:
    return range(*(node.map or (0, 0)))


def _dedented(line: str, width: int) -> str:
    """Take away up to `width` columns of white space."""
    columns = 0
    for index, letter in enumerate(line):
        if columns >= width or letter not in " \t":
            return line[index:]
        columns += _TAB - columns % _TAB if letter == "\t" else 1
    return ""


IssueKind = Literal["task list", "issue form", "tracking issue", "one task"]


@dataclass(frozen=True)
class Intake:
    kind: IssueKind
    why: str
    """A clause without a full stop; empty where the text says it by itself."""
    work: Checklist
    """Its task list without the boxes that are no tasks."""


def intake(text: str, labels: Collection[str] = ()) -> Intake:
    """Return what an issue is, by its body; `labels` as of `box_labels`."""
    found = checklist(clean(text))
    if not found.items:
        return Intake("one task", "", found)
    items = [
        item
        for item in found.items
        if plain_label(" ".join(item.lines[: item.lead])) not in labels
    ]
    aside = len(found.items) - len(items)
    boxes = "a box is" if aside == 1 else f"{aside} boxes are"
    why = f"{boxes} part of an issue form, not of the plan" if aside else ""
    if not items:
        return Intake("issue form", why, replace(found, items=()))
    if aside:
        items = [replace(item, number=at) for at, item in enumerate(items, 1)]
    work = replace(found, items=tuple(items))
    todo = [item for item in items if not item.done]
    if not todo and found.around:
        return Intake("one task", "all of its boxes are ticked", Checklist((), text))
    if todo and all(item.reference for item in todo):
        return Intake("tracking issue", "its open items only name other issues", work)
    return Intake("task list", why, work)


_MARKUP: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`~\"“”<>]")
_LONGEST: Final = 400


def plain_label(label: str) -> str:
    """Return a box's words so that they compare: no markup, one case, one space."""
    text = unicodedata.normalize("NFKC", label[:_LONGEST]).replace("\u2019", "'")
    words = _MARKUP.sub(lambda found: found[1] or "", text).casefold().split()
    return " ".join(words).strip(" .。!;*")


FORMS_FOLDER: Final = ".github/ISSUE_TEMPLATE/"
FILES_MOST: Final = 40
FORM_CHARS: Final = 65_536


def form_files(files: Iterable[str]) -> list[str]:
    """Return which of a commit's files are issue forms, at most `FILES_MOST`."""
    found = [
        name
        for name in files
        if name.startswith(FORMS_FOLDER) and name.endswith((".yml", ".yaml"))
    ]
    return found[:FILES_MOST]


def box_labels(texts: Iterable[str]) -> frozenset[str]:
    """Return the labels of the boxes of forms, which are YAML by anybody.

    Only the schema's own path is followed, so aliases cannot multiply what is read.
    """
    labels: set[str] = set()
    for text in texts:
        try:
            form = yaml_data(text, FORM_CHARS)
        except (TooMuch, ValueError):
            continue  # GitHub shows no form either
        body = form.get("body") if isinstance(form, dict) else None
        for element in body if isinstance(body, list) else ():
            match element:
                case {"type": "checkboxes", "attributes": {"options": [*options]}}:
                    boxes = (each for each in options if isinstance(each, dict))
                    found = (box.get("label") for box in boxes)
                    labels |= {plain_label(it) for it in found if isinstance(it, str)}
                case _:
                    pass
    return frozenset(filter(None, labels))


FEWEST_WORDS: Final = 12
"""An issue with so many words says enough."""
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CLEAR: Final = re.compile(
    r"^[^\S\n]*(?:[-*+]|\d{1,9}[.)])\s|`|\d|https?:|@\w|!\[", re.MULTILINE
)
_EACH_A_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD: Final = re.compile(r"[^\W_]+")
_WISH: Final = re.compile(r"\b(?:should|instead|expected|must|when)\b", re.IGNORECASE)

ASK_CHANGE: Final = "What is wrong or missing now, and what should happen instead?"
ASK_PLACE: Final = "Where is it? Which page, command, file or function?"
ASK_PROOF: Final = "How can you tell that it is done? Give an example, command or test."


def questions(title: str, text: str) -> tuple[str, ...]:
    """Return what to ask the author of an issue; none: it says enough to begin."""
    body = _HIDDEN.sub("", clean(text))
    whole = f"{clean(title)}\n{body}"
    plain = unicodedata.normalize("NFKC", whole)
    letters = len(_EACH_A_WORD.findall(plain))  # of some scripts two count as a word
    words = letters // 2 + len(_WORD.findall(_EACH_A_WORD.sub(" ", plain)))
    if _CLEAR.search(whole) or paths_in(whole) or words >= FEWEST_WORDS:
        return ()
    asked = () if _WISH.search(whole) else (ASK_CHANGE,)
    return (*asked, ASK_PLACE, ASK_PROOF)
