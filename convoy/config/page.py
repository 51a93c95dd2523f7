"""Writes what documents say of the configuration: its schema and its table of keys.

`python -m convoy.config.page docs` brings docs/config.schema.json and the table in
docs/configuration.md up to date; a test fails while they are not.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from convoy.config import schema
from convoy.config.faults import Node, allowed, keys
from convoy.config.values import SECONDS
from convoy.text.duration import spoken
from convoy.text.generated import remade

BEGIN = "<!-- keys: made by python -m convoy.config.page docs -->\n"
END = "<!-- end of keys -->\n"


def schema_text() -> str:
    """Return the JSON Schema as it lies in docs/config.schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def keys_table() -> str:
    """Return all keys as a Markdown table: default, what is allowed, meaning."""
    rows = [
        f"| `{key}` | {_default(node)} | {allowed(node)} "
        f"| {' '.join(node['description'].split())} |\n"
        for key, node in keys(schema())
    ]
    return "| key | default | allowed | meaning |\n|---|---|---|---|\n" + "".join(rows)


def with_table(page: str) -> str:
    """Return the page with the table between its two marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    return remade(page, BEGIN, END, keys_table())


def main(argv: Sequence[str]) -> int:
    """Write both files into the folder that `argv` names; safe to call twice."""
    folder = Path(argv[0])
    page = folder / "configuration.md"
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")
    (folder / "config.schema.json").write_text(schema_text(), "utf-8")
    return 0


def _default(node: Node) -> str:
    value = node.get("default")
    if value is None:
        return "none"
    if node.get("x-allowed") == SECONDS:
        value = spoken(value)
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
