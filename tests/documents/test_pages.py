"""`make docs` has nothing to write, and what people wrote stays short."""

import re
from pathlib import Path

import pytest

from tests.documents.pages import ROOT, pages
from tests.world.cases import looped

MADE = re.compile(r"(?s)<!-- ([\w-]+): made by make docs -->.*?<!-- end of \1 -->")
REFERENCE = {
    "command-line",
    "commands",
    "configuration",
    "engine-requests",
    "log-format",
}
MOST_WORDS = 30_000


@looped(*[pytest.param(*each, id=each[0].name) for each in pages()])
def test_a_document_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text("utf-8") == text, "run `make docs`"


def written_words(page: Path) -> int:
    """Count the words that no program writes, as `wc -w` does."""
    text = MADE.sub("", page.read_text("utf-8"))
    return len(text.partition("<!-- written by `make mutants")[0].split())


def test_the_documents_are_short_enough_to_be_read() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "examples/README.md",
        ROOT / "deploy/fleet/README.md",
        ROOT / ".github/SECURITY.md",
        *(each for each in ROOT.glob("docs/*.md") if each.stem not in REFERENCE),
    ]

    assert sum(map(written_words, pages)) <= MOST_WORDS
    assert len(pages[0].read_text("utf-8").splitlines()) <= 120
