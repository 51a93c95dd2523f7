"""What a delivery would lead to, said in lines; nothing is asked or written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from bot.door.inbox import Remark, Request, Review, Ticked
from bot.door.triage import meaning, read
from bot.orders.carrying import convoy_of
from bot.speech.grammar import Misheard, heard
from bot.speech.verbs import checked, verb_of
from convoy import ids
from convoy.config import Config
from convoy.planner import tasklist
from convoy.state import State
from convoy.text.names import convoy_name
from grite.errors import BratError

HEADER: Final = "x-github-event"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A delivery as somebody recorded it."""

    event: str
    body: bytes

    @classmethod
    def parse(cls, text: bytes, event: str = "") -> "Recorded":
        """Read a payload alone, or one with its headers as GitHub's API lists it.

        Args:
            text: JSON.
            event: what X-GitHub-Event said; needed where the file does not say it.

        Raises:
            BratError: it is no JSON object, or does not say of which event it is.
        """
        try:
            told = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BratError(f"the delivery is no JSON: {error}") from error
        if not isinstance(told, dict):
            raise BratError("the delivery is no JSON object")
        whole = told.get("request", told)
        payload = whole.get("payload") if isinstance(whole, dict) else None
        if not isinstance(payload, dict):
            whole, payload = {}, told
        named = event or _named(told, whole.get("headers"), payload)
        return cls(event=named, body=json.dumps(payload).encode())


def _named(told: Mapping[str, object], headers: object, payload: object) -> str:
    """Return the event that a recording names, or that its payload can only be."""
    named = told.get("event")
    if isinstance(headers, dict):
        named = next((v for k, v in headers.items() if k.lower() == HEADER), named)
    if isinstance(named, str) and named:
        return named
    if isinstance(payload, dict) and "issue" in payload:
        return "issue_comment" if "comment" in payload else "issues"
    raise BratError("say which event it is: --event issues")


@dataclass(frozen=True, kw_only=True)
class World:
    """What is known beside the delivery."""

    state: State
    config: Config
    label: str
    login: str
    """Who the bot is."""


def told(recorded: Recorded, world: World) -> Iterator[str]:
    """Give what would be decided and done, a line each."""
    try:
        delivery = read(recorded.event, recorded.body)
    except ValidationError as error:
        yield f"door: 400, not a GitHub delivery: {error.errors()[0]['msg']}"
        return
    meant = meaning(recorded.event, delivery, world.label, world.login)
    where = delivery.repository.full_name if delivery.repository else "no repository"
    yield f"door: 202, {recorded.event} {delivery.action} about {where}".rstrip()
    if meant.part is not None:
        yield f"the loop would look at: {meant.part}"
    match meant.kept:
        case None:
            yield "it asks for nothing"
        case Request() as request:
            yield from _request(request, world)
        case Remark() as remark:
            yield from _remark(remark, world)
        case Review() | Ticked() as other:
            yield f"it asks, as {other.by} may: {other}"


def _request(request: Request, world: World) -> Iterator[str]:
    """Say what an accepted issue would become."""
    yield f"asked of the forge: may {request.by} write, is the label still there"
    busy = [c.name for c in world.state.live() if c.issue == request.issue]
    if busy:
        yield f"nothing: convoy {busy[0]} of #{request.issue} is not finished"
        return
    settings = world.config.settings()
    try:
        tasks = tasklist.plan(
            request.title, request.text, settings.workers, settings.tasks
        )
    except tasklist.PlanError as error:
        yield f"the convoy would fail: {error}"
        return
    name = convoy_name(request.title, request.issue, world.state.convoys)
    yield f"convoy {name} on branch {ids.base_branch(name)}:"
    for task in tasks:
        after = ", ".join(map(str, task.after))
        waits = f" after {after}" if after else ""
        yield f"  {task.number} ({task.engine}{waits}): {task.title}"
    yield f"written: label brat:planning for {world.label}, one comment, the branch"
    first = [task.number for task in tasks if not task.after]
    yield f"dispatched first: {', '.join(map(str, first))}"


def _remark(remark: Remark, world: World) -> Iterator[str]:
    """Say what the commands of a comment would be taken for."""
    convoy = convoy_of(world.state, remark.issue)
    yield f"about: {f'convoy {convoy.name}' if convoy else 'no convoy that is known'}"
    said = heard(remark.text)
    if not said:
        yield "no command: nothing is answered"
    for each in said:
        request = (
            each
            if isinstance(each, Misheard)
            else checked(each, "pull" if remark.on_pull else "issue")
        )
        if isinstance(request, Misheard):
            yield f"misheard: {request.why}"
            continue
        verb = verb_of(request)
        yield f"/brat {verb.name} by {remark.by}, which takes {verb.right} access"
