"""Predicts in lines of text what a delivery would cause; asks and writes nothing."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from bot.door.delivery_meaning import meaning, read_delivery
from bot.door.inbox import CheckAction, Remark, Review, StartRequest, Ticked
from bot.requests.verb import convoy_of
from bot.requests.verb_table import BY_NAME, parsed
from bot.text.slash_commands import MalformedCommand, slash_commands
from convoy.config import Config
from convoy.model import ids
from convoy.model.state import State
from convoy.planner import tasklist
from convoy.text import convoy_name
from grite.errors import BratError

HEADER: Final = "x-github-event"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A delivery as somebody recorded it."""

    event: str
    body: bytes

    @classmethod
    def parse(cls, text: bytes, event: str = "") -> "Recorded":
        """Read a payload, alone or with its headers as in GitHub's API.

        The event has to be said if the text does not hold it.

        Raises:
            BratError: the text is no JSON object, or does not name its event.
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
    """Return the event that a recording names, or that its payload implies."""
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
    """The facts known besides the delivery."""

    state: State
    config: Config
    label: str
    login: str
    """The bot's account."""


def told(recorded: Recorded, world: World) -> Iterator[str]:
    """Give one line for each thing that the bot would decide or do."""
    try:
        delivery = read_delivery(recorded.event, recorded.body)
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
        case StartRequest() as request:
            yield from _request(request, world)
        case Remark() as remark:
            yield from _remark(remark, world)
        case Review() | Ticked() | CheckAction() as other:
            yield f"it asks, as {other.by} may: {other}"


def _request(request: StartRequest, world: World) -> Iterator[str]:
    """Describe the convoy that an accepted issue would become."""
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
    """Describe how a comment's commands would be understood."""
    convoy = convoy_of(world.state, remark.issue)
    yield f"about: {f'convoy {convoy.name}' if convoy else 'no convoy that is known'}"
    said = slash_commands(remark.text)
    if not said:
        yield "no command: nothing is answered"
    for each in said:
        request = (
            each
            if isinstance(each, MalformedCommand)
            else parsed(each, "pull" if remark.on_pull else "issue")
        )
        if isinstance(request, MalformedCommand):
            yield f"misheard: {request.why}"
            continue
        verb = BY_NAME[request.verb]
        yield f"/brat {verb.name} by {remark.by}, which takes {verb.right} access"
