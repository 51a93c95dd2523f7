"""What the model says next: a function of the script and the conversation."""

from typing import Final

from brat.demo.vendor import edits, tools
from brat.demo.vendor.conversation import Asked, Say, Turn, Use
from brat.demo.vendor.script import Case, Loop, Run

_AGAIN: Final = Run(command="true")


def answer(case: Case, asked: Asked) -> Turn:
    """Return the model's next turn.

    How far it has come is told by the number of tools' results in the conversation, so
    calls that a CLI makes besides (titles, retries) do not shift it.
    """
    if not asked.tools:
        return Say(edits.reply(case, asked) or case.closing)
    if isinstance(case.fault, Loop):
        return _use(tools.call(_AGAIN, asked), asked) or Say(case.closing)
    steps = tuple(tools.by_tools(case.steps))
    if asked.results < len(steps):
        step = steps[asked.results]
        return _use(tools.call(step, asked), asked) or Say(
            f"I have no tool for this: {type(step).__name__.lower()}."
        )
    return Say(case.closing)


def _use(found: tuple[str, dict[str, object]] | None, asked: Asked) -> Use | None:
    if found is None:
        return None
    name, arguments = found
    return Use(f"call_{asked.results + 1}", name, arguments)
