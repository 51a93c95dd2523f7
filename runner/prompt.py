"""The prompt: what every kind of agent is told, in one file."""

from convoy.events import TaskStarted

_RULES = """\
Work in the current folder, a checkout of the repository. What you leave there when you
end is your work: you may commit it, you need not. Do not push, and do not touch:
{protected}.

End your last message with a line that says how it went: `BRAT: done` and what you did,
in one sentence. Instead of `done` it may be `noop` (nothing is to be done), `blocked`,
`missing_tool` or `missing_data`, and why.
"""


def prompt(started: TaskStarted) -> str:
    """Return the whole prompt in Markdown: task, earlier attempts, rules."""
    parts = [f"# {started.title}\n", started.instructions.strip() + "\n"]
    if started.notes:
        notes = "\n".join(f"{n}. {note}" for n, note in enumerate(started.notes, 1))
        parts.append(f"## Why earlier attempts did not land\n\n{notes}\n")
    protected = ", ".join(f"`{each}`" for each in started.gate.protected) or "nothing"
    parts.append(f"## Rules\n\n{_RULES.format(protected=protected)}")
    if started.gate.allowed:
        allowed = ", ".join(f"`{each}`" for each in started.gate.allowed)
        parts.append(f"Only touch: {allowed}.\n")
    return "\n".join(parts)
