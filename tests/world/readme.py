"""The commands that people are told to type: the README's, and those of each way."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
LOCAL = README.parent / "docs/local.md"
WITHOUT_SERVER = README.parent / "docs/actions.md"
WITH_BOT = README.parent / "docs/hosting.md"


def commands(page: Path, section: str = "Set it up") -> list[str]:
    text = page.read_text(encoding="utf-8")
    (body,) = re.findall(rf"(?ms)^## {re.escape(section)}\n(.*?)(?=^## )", text)
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", body)
    return [line for block in blocks for line in block.splitlines() if line.strip()]
