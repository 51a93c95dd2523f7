"""The dashboard's openapi.json, with the words of the table of verbs."""

import json
from typing import Any

from bot.requests.verb_table import BY_CONVOY_WORD, BY_TASK_WORD


def with_words(description: str) -> str:
    """Return the description with the words that its operations take."""
    told: dict[str, Any] = json.loads(description)
    for operation, rows in (
        ("decideConvoy", BY_CONVOY_WORD),
        ("decideTask", BY_TASK_WORD),
    ):
        for path in told["paths"].values():
            post = path.get("post", {})
            if post.get("operationId") == operation:
                [verb] = [p for p in post["parameters"] if p.get("name") == "verb"]
                verb["schema"]["enum"] = list(rows)
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
