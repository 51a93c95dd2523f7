"""The scripted model's plan for the demo, when the issue is prose.

It equals the plan made from the same issue's task list, as a model would write it.
"""

import json
from typing import Final

from brat.demo.vendor.script import Case
from convoy.planner import tasklist

ASKED: Final = "Plan the work that the issue asks for"
"""The beginning of a planning session's prompt: convoy.planner.brief."""
_ENGINES: Final = ("default", "docs", "tests")
_MOST: Final = 20


def case(title: str, text: str) -> Case:
    """Return the script's case in which the model is asked for a plan.

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
