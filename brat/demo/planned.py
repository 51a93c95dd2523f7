"""What the scripted model answers when the demo's issue is prose: a plan.

It is the plan that the task list of the same issue makes, as a model would write it.
"""

import json
from typing import Final

from brat.demo.vendor.script import Case
from convoy.planner import tasklist

ASKED: Final = "Plan the work that the issue asks for"
"""How what a planning session is told begins: convoy.planner.brief."""
_ENGINES: Final = ("default", "docs", "tests")
_MOST: Final = 20


def case(title: str, text: str) -> Case:
    """Return what the model says when it is asked for a plan.

    Args:
        title: of the demo's issue.
        text: its body, with the task list.
    """
    return Case(when=(ASKED,), closing=f"```json\n{_plan(title, text)}\n```")


def _plan(title: str, text: str) -> str:
    tasks = tasklist.plan(title, text, _ENGINES, _MOST)
    steps = [
        {
            "title": task.title,
            "instructions": task.instructions,
            "paths": list(task.paths),
            "after": list(task.after),
            "engine": task.engine,
            "why": "It is one bug with a test of its own.",
        }
        for task in tasks
    ]
    return json.dumps({"tasks": steps}, indent=1)
