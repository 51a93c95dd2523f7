"""What a person asks for: put to the rules, carried out, and answered.

Whether the person may is known by now. What a verb asks of a convoy's run is in
`convoy_orders`, of its plan in `plan_orders`, of a pull request in `pull_orders`.
"""

from typing import Final

from bot.desk import Desk
from bot.orders import (
    convoys as convoy_orders,
    plans as plan_orders,
    pulls as pull_orders,
    replies,
)
from bot.orders.asker import Asker, do
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from bot.speech import requests as asked
from bot.speech.requests import Request
from convoy.commands import FreeLease, PauseAll, ResumeAll, TakeLease
from convoy.state import Convoy, State

_WITHOUT_A_CONVOY: Final = (
    asked.Help,
    asked.Ping,
    asked.Lock,
    asked.Unlock,
    asked.PauseAll,
    asked.ResumeAll,
)


async def carry_out(desk: Desk, draft: Draft, asker: Asker, request: Request) -> Reply:
    """Put one request to the rules and return what is to be said of it."""
    if isinstance(request, _WITHOUT_A_CONVOY):
        return _of_nothing(desk, draft, asker, request)
    convoy = convoy_of(draft.state, asker.number)
    if convoy is None:
        return replies.refused("no convoy belongs to this issue")
    if isinstance(request, asked.Logs):
        settings = desk.settings
        runs_url = f"{settings.git_url}/{settings.repository}/actions/runs"
        return replies.logs(convoy, request.task, runs_url)
    if isinstance(request, asked.Approve):
        return _approve(desk, draft, asker, convoy, request)
    if isinstance(request, plan_orders.PlanRequest):
        return plan_orders.carry_out(desk, draft, asker, convoy, request)
    if isinstance(request, pull_orders.PullRequest):
        return await pull_orders.carry_out(desk, draft, asker, convoy, request)
    return convoy_orders.carry_out(draft, asker, convoy, request)


def convoy_of(state: State, number: int) -> Convoy | None:
    """Return the newest convoy that an issue or pull request belongs to."""
    found = [
        convoy
        for convoy in state.convoys.values()
        if number in (convoy.issue, convoy.pull)
        or any(task.pull == number for task in convoy.tasks)
    ]
    return found[-1] if found else None


def _of_nothing(desk: Desk, draft: Draft, asker: Asker, request: Request) -> Reply:
    """Do what takes no convoy."""
    match request:
        case asked.Help(verb=verb):
            return replies.help_with(verb)
        case asked.Lock():
            return _lock(draft, asker, request)
        case asked.Unlock():
            return _unlock(draft, asker, request)
        case asked.PauseAll() | asked.ResumeAll():
            return _all(draft, asker, pause=isinstance(request, asked.PauseAll))
        case _:
            return replies.pong(desk.login)


def _approve(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, request: asked.Approve
) -> Reply:
    """Approve the work of the pull request it is said on, else the plan."""
    if asker.number in (convoy.pull, *(task.pull for task in convoy.tasks)):
        return pull_orders.approve(draft, asker, convoy, request.commit)
    if request.commit is not None:
        return replies.refused("say it on the pull request whose work it is")
    return plan_orders.approve(desk, draft, asker, convoy)


def _lock(draft: Draft, asker: Asker, request: asked.Lock) -> Reply:
    take = TakeLease(
        resource=request.resource,
        holder=asker.by,
        nonce=asker.nonce,
        now=draft.now,
        ttl_s=request.ttl_s,
    )
    return do(draft, take, replies.locked(request.resource, request.ttl_s))


def _unlock(draft: Draft, asker: Asker, request: asked.Unlock) -> Reply:
    held = draft.state.leases.get(request.resource)
    nonce = held.nonce if held else ""
    free = FreeLease(resource=request.resource, holder=asker.by, nonce=nonce)
    return do(draft, free, replies.unlocked(request.resource))


def _all(draft: Draft, asker: Asker, *, pause: bool) -> Reply:
    """Pause or resume everything, and say how many convoys that concerns."""
    wanted = "active" if pause else "paused"
    many = sum(1 for convoy in draft.state.live() if convoy.state == wanted)
    command = PauseAll(by=asker.by) if pause else ResumeAll(by=asker.by)
    return do(draft, command, replies.all_of_them(many, paused=pause))
