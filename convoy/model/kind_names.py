"""The kinds of task, by name; `convoy.kinds` has a row for each."""

from typing import Literal

Kind = Literal[
    "work",
    "report",
    "scout",
    "review",
    "tests",
    "rival",
    "choice",
    "split",
    "sync",
]
"""What a task is for; docs/workflows.md says what each kind does."""
