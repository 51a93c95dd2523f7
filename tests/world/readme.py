"""The commands that the README tells people to type."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
WITHOUT_SERVER = "On GitHub, without a server"
WITH_BOT = "On GitHub, with a bot of your own"


def commands(section: str) -> list[str]:
    """Return the lines of a section's blocks for a shell."""
    text = README.read_text(encoding="utf-8")
    (body,) = re.findall(rf"(?ms)^## {re.escape(section)}\n(.*?)(?=^## )", text)
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", body)
    return [line for block in blocks for line in block.splitlines() if line.strip()]
