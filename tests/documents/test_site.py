"""`make site` builds every page, finds bad links, and needs nothing from elsewhere."""

import re
import subprocess
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


def build(tree: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return ran([ROOT / ".ci/site", SITE, folder, tree])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
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


def test_it_lists_where_else_its_pages_link_to(site: Path) -> None:
    lines = (site / "links.txt").read_text("utf-8").splitlines()

    assert any(line.startswith("https://semver.org/\tCHANGELOG.md") for line in lines)
    assert all(line.startswith(("https://", "mailto:")) for line in lines)


def test_links_that_are_no_good_fail(tmp_path: Path) -> None:
    tree = tmp_path / "clone"
    ran(["git", "clone", "--quiet", "--shared", ROOT, tree], check=True)
    bad = {
        "nowhere.md": "nowhere.md",
        "design.md#no-such-part": "no-such-part",
        "../bot/nothing.py": "bot/nothing.py",
        "http://example.com/": "use https",
    }
    with (tree / "docs/landing.md").open("a") as page:
        page.writelines(f"\n[one]({link})\n" for link in bad)

    done = build(tree, tmp_path / "site")

    assert done.returncode == 1
    assert "docs/landing.md" in done.stderr
    assert [said for said in bad.values() if said not in done.stderr] == []
