"""A job's outputs for later steps and jobs, as action.yml lists them."""

import json
from pathlib import Path
from typing import Any

from convoy.model import ids
from runner.result.result_folder import PATCH, RESULT, TRANSCRIPT, USAGE, Result

_COUNTED = {
    "input-tokens": "input_tokens",
    "output-tokens": "output_tokens",
    "cache-read-tokens": "cached_tokens",
    "total-cost-usd": "usd",
}


def outputs(folder: Path, result: Result, *, is_alone: bool) -> dict[str, str]:
    """Return the outputs of a session, by name; unknown outputs are empty.

    Args:
        folder: the result folder, with all its files.
        result: what its result.json says.
        is_alone: whether the task is of no convoy, so that no bot pushes it.
    """
    of_convoy = {
        "session-id": result.session,
        "attempt": str(result.attempt),
        "branch": ids.task_branch(result.convoy, result.task),
    }
    return {
        "conclusion": result.conclusion,
        **(dict.fromkeys(of_convoy, "") if is_alone else of_convoy),
        "head-sha": result.commit or "",
        "summary": result.summary,
        "patch": _path(folder / PATCH),
        "result-file": str(folder / RESULT),
        "transcript-file": _path(folder / TRANSCRIPT),
        "duration-seconds": f"{result.seconds:.0f}",
        **_used(folder / USAGE),
    }


def _path(file: Path) -> str:
    return str(file) if file.is_file() else ""


def _used(file: Path) -> dict[str, str]:
    """Add up the usage that the engine reports."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    said = [json.loads(line) for line in lines]
    return {name: _sum(said, field) for name, field in _COUNTED.items()}


def _sum(said: list[dict[str, Any]], field: str) -> str:
    found = [each[field] for each in said if isinstance(each.get(field), int | float)]
    return f"{round(sum(found), 6):.12g}" if found else ""
