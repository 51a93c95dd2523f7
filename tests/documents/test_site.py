"""`make site` builds every page, finds bad links, and needs nothing from elsewhere."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.documents.pages import ROOT
from tests.world.patience import patient
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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", ROOT, clone],
        check=True,
        timeout=patient(60),
    )
    return clone


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[one](nowhere.md)", "nowhere.md"),
        ("[one](design.md#no-such-part)", "no-such-part"),
        ("[one](../bot/nothing.py)", "bot/nothing.py"),
        ("[one](http://example.com/)", "use https"),
    ],
)
def test_a_link_that_is_no_good_fails(
    tree: Path, tmp_path: Path, line: str, said: str
) -> None:
    with (tree / "docs/landing.md").open("a") as page:
        page.write(f"\n{line}\n")

    done = build(tree, tmp_path / "site")

    assert done.returncode == 1
    assert "docs/landing.md" in done.stderr
    assert said in done.stderr
