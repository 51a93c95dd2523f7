"""`make site` builds every page, finds bad links, and needs nothing from elsewhere."""

import re
from pathlib import Path

import pytest

from tests.documents.pages import ROOT
from tests.world.program import ran
from tests.world.tools import SITE

LOADED = re.compile(
    r"<(?:script|img|iframe|link(?! rel=\"?canonical))[^>]*?"
    r"(?:src|href)=\"?((?:https?:)?//[^\s\">]+)"
)
"""What a page loads from elsewhere when it is opened."""
pytestmark = [pytest.mark.needs("mkdocs"), pytest.mark.layer("deep")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = ran([ROOT / ".ci/site", SITE, folder, ROOT])
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_is_a_page_of_it(site: Path) -> None:
    pages = {file.relative_to(ROOT) for file in (ROOT / "docs").rglob("*.md")}

    missing = [
        page
        for page in pages
        if page.name != "README.md" and not (site / page.with_suffix(".html")).is_file()
    ]

    assert missing == []
    assert (site / "index.html").is_file()
    decisions = (site / "docs/decisions/index.html").read_text("utf-8")
    listed = set(re.findall(r'<li><a href="(\d{4}-[\w-]+)\.html"', decisions))
    assert listed == {file.stem for file in (ROOT / "docs/decisions").glob("0*.md")}


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    found = {
        address
        for page in site.rglob("*.html")
        for address in LOADED.findall(page.read_text("utf-8"))
    }
    styles = {
        address
        for style in site.rglob("*.css")
        for address in re.findall(r"url\((https?:[^)]*)\)", style.read_text("utf-8"))
    }

    assert found | styles == set()
