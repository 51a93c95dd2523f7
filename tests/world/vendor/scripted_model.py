"""The model's next turn: a function of the script and the conversation."""

from typing import Final

from tests.world.vendor import search_replace, tool_calls
from tests.world.vendor.conversation import Asked, Say, Turn, Use
from tests.world.vendor.script import Case, Loop, Run

_AGAIN: Final = Run(command="true")


def answer(case: Case, asked: Asked) -> Turn:
    """Return the model's next turn.

    The number of tool results in the conversation tells which step is next, so a CLI's
    extra calls (titles, retries) skip no step.
    """
    if not asked.tools:
        return Say(search_replace.reply(case, asked) or case.closing)
    if isinstance(case.fault, Loop):
        return _use(tool_calls.call(_AGAIN, asked), asked) or Say(case.closing)
    steps = tuple(tool_calls.by_tools(case.steps))
    if asked.results < len(steps):
        step = steps[asked.results]
        return _use(tool_calls.call(step, asked), asked) or Say(
            f"I have no tool for this: {type(step).__name__.lower()}."
        )
    return Say(case.closing)


def _use(found: tuple[str, dict[str, object]] | None, asked: Asked) -> Use | None:
    if found is None:
        return None
    name, arguments = found
    return Use(f"call_{asked.results + 1}", name, arguments)
