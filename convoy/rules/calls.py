"""Who is called, for what, and when.

Editing the convoy's comment notifies nobody; a new comment does. So people are called
once when something begins to wait for them, and not again while any of that still
waits: the convoy's comment lists the rest.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import ConvoyCommand, Events, Refusal
from convoy.events.forge_actions import ActionIntended
from convoy.events.people_events import (
    FAILED_KEY,
    PeopleCalled,
    blocked_key,
    lacking_approvals,
)
from convoy.kinds import is_stopped
from convoy.model import ids
from convoy.model.state import Convoy, State


class Need(Struct, frozen=True, kw_only=True):
    key: str
    """A key that stays the same as long as the need does; begins with its kind."""
    task: int = 0
    aside: ids.SetAside | None = None
    """What was refused."""
    whom: str = ""
    """The account that the call names; empty: none."""

    @property
    def kind(self) -> str:
        return self.key.partition("/")[0]


def uncalled(state: State, convoy: Convoy) -> tuple[Need, ...]:
    """Return what to call people for now: everything that waits, or nothing."""
    needs = tuple(_needs(state, convoy))
    if any(need.key in convoy.called for need in needs):
        return ()
    return tuple(replace(need, whom=_whom(convoy)) for need in needs)


def _whom(convoy: Convoy) -> str:
    """Return the person who answers for a convoy; empty: no account of a person's."""
    by = convoy.sponsor
    return by if ids.is_login(by) and not by.endswith("[bot]") else ""


def _needs(state: State, convoy: Convoy) -> Iterator[Need]:
    if convoy.state == "failed" and (convoy.tasks or convoy.mayor):
        yield Need(key=FAILED_KEY)
    if convoy.ended or convoy.held:
        return
    # What is set aside, but what will go on by itself. The convoy's comment tells of
    # everything else that was refused, but cannot tell that its own change was.
    comment = state.set_aside.get(ids.item("show", convoy.name, "comment"))
    own = ((f"{task.number}", task.number, task.set_aside) for task in convoy.tasks)
    all_of_it = ("0", 0, convoy.set_aside), *own, ("comment", 0, comment)
    for what, number, aside in all_of_it:
        if aside is not None and not aside.again and not aside.passing:
            key = f"refused/{what}/{aside.rule}"
            yield Need(key=key, task=number, aside=aside)
    if convoy.sync.stalled:
        yield Need(key=f"landing/{convoy.sync.at}")
    planned = bool(convoy.tasks)
    # A plan out of the issue's own list is shown as soon as the comment is written.
    if convoy.state == "planning" and planned and convoy.mayor and not convoy.staged:
        yield Need(key="plan")
    if convoy.landing_waits and convoy.settled:
        yield Need(key=f"landing/{convoy.landing_waits}")
    for task in convoy.tasks:
        if is_stopped(convoy, task):
            yield Need(key=blocked_key(task), task=task.number)
            continue
        if task.state != "needs-review" or not (task.work and task.pull):
            continue
        is_out = task.held or task.withdrawn or task.taken_out
        if not is_out and lacking_approvals(convoy, task):  # it waits only for these
            key = f"approve/{task.number}/{task.work.commit[:10]}"
            yield Need(key=key, task=task.number)


class CallPeople(ConvoyCommand, frozen=True, kw_only=True):
    text: str
    now: int
    """Unix ms."""

    def decide(self, state: State) -> Events:
        convoy = self.known(state)
        needs = tuple(need.key for need in uncalled(state, convoy))
        if not needs:
            raise Refusal(f"everyone needed for {convoy.name} was notified")
        key = ids.sign_key("call", f"{convoy.name}/{self.now}")
        return (
            PeopleCalled(convoy=convoy.name, needs=needs),
            ActionIntended(key=key, kind="answer", issue=convoy.issue, text=self.text),
        )
