"""Planning by a model: what it is told, and what a valid answer is. Pure."""

from typing import Final

FILE: Final = "plan.json"
"""The file in which the engine leaves its plan, at the top of its folder."""
REPLY: Final = "answer.json"
"""The file in which it leaves any other answer, such as a report."""
ANSWER_CHARS: Final = 200_000
