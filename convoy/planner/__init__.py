"""Planning by a model: what it is told, and what its answer must be. Pure."""

from typing import Final

FILE: Final = "plan.json"
"""Where the engine leaves its plan, at the top of its folder."""
REPLY: Final = "answer.json"
"""Where it leaves any other answer, such as a report."""
ANSWER_CHARS: Final = 200_000
