"""A hook of MkDocs: links elsewhere are https, and links.txt lists them."""

import logging
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

log = logging.getLogger("mkdocs.hooks.external_links")  # a warning ends a strict build
found: dict[str, set[str]] = {}


class _Links(HTMLParser):
    """Collects what a page's own text links to, or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of one tag."""
        self.addresses += [
            value for key, value in attrs if key in {"href", "src"} and value
        ]


def on_page_content(html: str, page: Any, **_: Any) -> None:  # noqa: ANN401  MkDocs' own
    """Note the page's addresses elsewhere; warn of those without https."""
    links = _Links()
    links.feed(html)
    for address in links.addresses:
        scheme, colon, _rest = address.partition(":")
        if not colon or "/" in scheme or "#" in scheme or scheme == "mailto":
            continue
        if scheme != "https":
            log.warning("%s links to %s: use https", page.file.src_uri, address)
        found.setdefault(address, set()).add(page.file.src_uri)


def on_post_build(config: Any, **_: Any) -> None:  # noqa: ANN401  MkDocs' own
    """Write links.txt: each address, and the pages that it is on."""
    lines = (f"{each}\t{' '.join(sorted(found[each]))}\n" for each in sorted(found))
    Path(config["site_dir"], "links.txt").write_text("".join(lines), "utf-8")
