"""Draws a plan's order as a diagram that GitHub shows. Pure."""

from collections.abc import Iterator
from typing import Final

from convoy.model.state import Convoy

NODE_CHARS: Final = 40
MOST: Final = 30
"""A diagram with more tasks would be unreadable."""


def picture(convoy: Convoy) -> tuple[str, ...]:
    """Return the graph of a plan's tasks: Markdown with a Mermaid block."""
    return ("```mermaid", *_graph(convoy), "```")


def _graph(convoy: Convoy) -> Iterator[str]:
    yield "graph LR"
    for task in convoy.tasks:
        yield f'  t{task.number}["{task.number}. {_label(task.spec.title)}"]'
    for task in convoy.tasks:
        yield from (f"  t{number} --> t{task.number}" for number in task.spec.after)


def _label(title: str) -> str:
    """Return a title without characters that could end the label or be markup."""
    harmless = "".join(c if c.isalnum() or c in " .,/-" else " " for c in title)
    return " ".join(harmless[:NODE_CHARS].split())
