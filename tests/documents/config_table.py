"""The configuration's schema and table of keys, as the documents have them."""

import json

from convoy.config import Node, allowed_words, schema, schema_keys
from convoy.config.keys import SECONDS
from convoy.text import spoken_duration


def schema_text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def keys_table() -> str:
    rows = [
        f"| `{key}` | {_default(node)} | {allowed_words(node)} "
        f"| {' '.join(node['description'].split())} |\n"
        for key, node in schema_keys(schema())
    ]
    return "| key | default | allowed | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _default(node: Node) -> str:
    value = node.get("default")
    if value is None:
        return "none"
    if node.get("x-allowed") == SECONDS:
        value = spoken_duration(value)
    return f"`{json.dumps(value)}`"
