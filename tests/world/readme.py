"""What pages tell people to type or write: the README's, and those of each way."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
LOCAL = README.parent / "docs/local.md"


def blocks(page: Path, *kinds: str, section: str = "") -> list[str]:
    """Return a page's blocks of these kinds, or those of one section."""
    text = page.read_text("utf-8")
    if section:
        begin = rf"(?ms)^## {re.escape(section)}[^\n]*\n"
        (text,) = re.findall(begin + r"(.*?)(?=^## |\Z)", text)
    found = re.findall(r"(?ms)^```(\S*)\n(.*?)^```", text)
    return [text for kind, text in found if kind in kinds]


def typed_lines(page: Path, section: str = "") -> list[str]:
    """Return what is typed: scripts, and what stands behind the prompt of consoles."""
    consoles = "".join(blocks(page, "console", section=section))
    typed = "".join(blocks(page, "sh", section=section)).splitlines()
    typed += re.findall(r"(?m)^\$ (.*)$", consoles)
    return [line for each in typed if (line := each.partition(" #")[0].strip())]
