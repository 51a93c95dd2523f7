"""The keys of engines' models, where workflows hand them on and people read them."""

import re
from typing import Final

from convoy.model.engine_types import ENGINE_TYPES, PROVIDERS
from tests.documents.tables import table

MADE: Final = {PROVIDERS[name].key for name in ("vertex", "code-assist")}
KEYS: Final = sorted(
    {key for each in ENGINE_TYPES.values() for key in each.all_keys} - MADE
)
FILES: Final = (
    "workflows/brat.yml",
    "workflows/brat-jobs.yml",
    ".github/workflows/brat-jobs.yml",
    "workflows/brat-task.yml",
    "workflows/brat-task-live.yml",
    ".github/workflows/brat-task.yml",
)
"""The last one is a copy of `workflows/brat-task.yml`, where GitHub looks for it."""
_NAME: Final = r"( +)(?!BRAT_)\w+_(?:KEY|TOKEN)(?:_\w+)?"
_HANDED: Final = re.compile(_NAME + r": \$\{\{ secrets\.\w+ \}\}\n")
_TAKEN: Final = re.compile(_NAME + r":\n +required: false\n")


def handed_on(text: str) -> str:
    """Return a workflow that takes each key and hands it on, whatever it had before.

    A run of lines is rewritten if one of them names a key already.
    """
    text = _rewritten(text, _HANDED, "{indent}{key}: ${{{{ secrets.{key} }}}}\n")
    return _rewritten(text, _TAKEN, "{indent}{key}:\n{indent}  required: false\n")


def secrets() -> str:
    types = ENGINE_TYPES.values()
    rows = (
        (
            f"`{key}`",
            ", ".join(f"`{each.name}`" for each in types if key in each.all_keys),
        )
        for key in KEYS
    )
    return table(("secret", "engines that look for it"), rows)


def _rewritten(text: str, line: re.Pattern[str], form: str) -> str:
    def anew(run: re.Match[str]) -> str:
        if not any(re.search(rf"\b{key}\b", run[0]) for key in KEYS):
            return run[0]
        return "".join(form.format(indent=run[1], key=key) for key in KEYS)

    return re.sub(f"(?:{line.pattern})+", anew, text)
