"""Everything in the repository stops and starts at a person's word.

What runs ends as usual and lands; nothing new starts, and nothing new is accepted.
"""

from convoy.commands import PauseAll, ResumeAll
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import (
    ConvoyPaused,
    ConvoyResumed,
    RepositoryPaused,
    RepositoryResumed,
)
from convoy.state import State


def pause(state: State, command: PauseAll) -> Decision:
    """Pause every convoy, also those to come."""
    if state.paused_by:
        return Refusal(f"everything is paused already, by {state.paused_by}")
    why = paused_because(command.by)
    return (
        RepositoryPaused(by=command.by),
        *(
            ConvoyPaused(convoy=convoy.name, by=command.by, why=why)
            for convoy in state.live()
            if convoy.state == "active"
        ),
    )


def resume(state: State, command: ResumeAll) -> Decision:
    """Let every convoy go on, and new ones start."""
    resumed: Events = tuple(
        ConvoyResumed(convoy=convoy.name, by=command.by)
        for convoy in state.live()
        if convoy.state == "paused"
    )
    if state.paused_by:
        return (RepositoryResumed(by=command.by), *resumed)
    return resumed or Refusal("nothing is paused")


def paused_because(by: str) -> str:
    """Return why a convoy stands still while everything does."""
    return f"{by} paused everything in this repository"


def stands_still(state: State) -> Refusal | None:
    """Return why nothing new may begin now; None: it may."""
    if not state.paused_by:
        return None
    why = paused_because(state.paused_by)
    return Refusal(f"{why}: say `/brat resume all`, then ask again")
