"""What the planning engine is told besides the fenced issue."""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from convoy.planner import FILE
from convoy.planner.answer import Answer
from convoy.planner.survey import Survey
from convoy.text.fence import fenced
from convoy.text.plaintext import clean, cut

MAP_CHARS: Final = 12_000
_FOLDERS_CHARS: Final = 4_000
"""How much of it is at least for the folders."""

_BRIEF: Final = """\
Plan the work that the issue asks for; do not do it. Look around in this folder, a
checkout of the repository, and change nothing in it.

Write the plan into the file `{file}` at the top of this folder: one JSON object that
fits this schema, and nothing else. If you cannot write files, end your last message
with it, in a block of ```json.

{schema}

What makes a plan good:

- Each task is for one agent that sees only its own instructions and the repository.
  Say in them what is to be done, where, and how it is known to be right.
- Tasks without `after` run at the same time, each on a branch of its own. Tasks that
  touch the same path wait for each other, so let them touch different ones.
- `paths` are files or folders there are (a folder ends in a slash, no wildcards),
  `creates` those that the task makes. A task that builds on another's work names its
  position, counted from 1, in `after`. Documents come after what they describe.
- The tests of what a task changes belong to that task, so that each task can be judged
  by itself. Tests of what several tasks change together may be a task behind them.
- `acceptance` is a command that shows that the task is done, run at the top of the
  checkout: the narrowest one, such as the tests of one file. Leave it out where there
  is none.
- One task is a good plan when the work is small or cannot be divided. At most {limit}.
- `engine` is the name of the one that fits the task best, `why` says why it does:
{engines}
"""


def brief(survey: Survey, engines: Iterable[str], limit: int, fence: str) -> str:
    """Return the planning task's instructions, in Markdown.

    Args:
        survey: what is known of the repository; its names are data, and fenced.
        engines: those the tasks may have, a line each, as convoy.planner.strengths.
        limit: the most tasks there may be.
        fence: the session's own.
    """
    named = "\n".join(f"  - {line}" for line in engines)
    schema = json.dumps(Answer.model_json_schema(), separators=(",", ":"))
    told = _BRIEF.format(file=FILE, schema=schema, limit=limit, engines=named)
    known = fenced(clean(repository_map(survey)), fence)
    return f"{told}\n## The repository\n\n{known}\n"


def repository_map(survey: Survey) -> str:
    """Return what is known about the repository, at most MAP_CHARS long."""
    lines = [f"{survey.files} files."]
    if survey.languages:
        lines.append("By ending: " + _counted(survey.languages) + ".")
    if survey.tests:
        commands = ", ".join(f"`{command}`" for command in survey.tests)
        lines.append(f"Its tests are run by {commands}.")
    if survey.busy:
        lines.append("Changed most lately: " + ", ".join(survey.busy) + ".")
    lines += _ties(survey)
    if survey.owners:
        lines += ["", "Its code owners:", "", survey.owners]
    lines += ["", "Folders, and how many files lie below each:", ""]
    text = cut("\n".join(lines), MAP_CHARS - _FOLDERS_CHARS)
    for folder, count in survey.folders:
        line = f"\n- {folder} {count}"
        if len(text) + len(line) > MAP_CHARS:
            return f"{text}\n- and more"
        text += line
    return text


def _ties(survey: Survey) -> Iterator[str]:
    """Yield lines on what belongs together, by history and by imports."""
    if survey.used:
        yield "Imported by most others: " + _counted(survey.used) + "."
    if survey.uses:
        yield "What imports from what, and in how many files:"
        yield ""
        yield from (f"- {one} from {other} {n}" for one, other, n in survey.uses)
        yield ""
    if survey.together:
        yield "Changed in the same commits, and in how many of late:"
        yield ""
        yield from (f"- {one} with {other} {n}" for one, other, n in survey.together)
        yield ""


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in pairs)
