"""A plan's order as a picture that GitHub draws. Pure."""

from collections.abc import Iterator
from typing import Final

from convoy.state import Convoy

NODE_CHARS: Final = 40
MOST: Final = 30
"""A picture of more tasks is not read."""


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
    """Return what of a title can neither end the label nor be markup in it."""
    harmless = "".join(c if c.isalnum() or c in " .,/-" else " " for c in title)
    return " ".join(harmless[:NODE_CHARS].split())
